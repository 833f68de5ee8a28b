/**
 * The reviewer of the mode `auto`: one question to a model about one call. It can let a call run that nothing forbids,
 * or send it back with a reason; it never sees what tools returned or what the agent says for itself. Whatever is late,
 * broken or not about this very call means that a person is asked.
 */
import * as z from "zod/mini";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { enclose } from "../../core/context/enclose.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { parseWith } from "../../kernel/schema.ts";
import { fingerprint, oneLine, shorten } from "../../kernel/text.ts";
import { reviewInstructions } from "../../policy/auto-mode.ts";
import type { CallReviewer, Review, ReviewedCall } from "../../ports/call-review.ts";
import type { Clock, Ids } from "../../ports/clock.ts";
import type { Consult } from "../../ports/consult.ts";
import { parseJsonLine } from "../../transport/strict-json.ts";

/** An answer that takes longer is no help: a person is asked. */
const deadlineMs = 10_000;
const maxReplyTokens = 300;
/** A call of which it would see only a part is not judged. */
const maxCallCharacters = 20_000;
const maxReasonCharacters = 300;
/** After so many no's the agent seems to want what a person should know of. */
const maxDenialsInRow = 3;
const maxDenials = 20;
/** After so many failures a person is asked at once, until it has had a rest. */
const maxOutages = 2;
const restMs = 30_000;
/** Verdicts that are remembered. */
const maxKnown = 1_000;

const verdictSchema = z.strictObject({
  call: z.string(),
  verdict: z.enum(["allow", "deny", "ask"]),
  reason: z.string(),
});

export class AutoModeReviewer implements CallReviewer {
  readonly #instructions: string;
  readonly #model: string | undefined;
  readonly #clock: Clock;
  /** Nobody who writes a command, a file name or a page knows it. */
  readonly #secret: string;
  readonly #known = new Map<string, Review>();
  #denialsInRow = 0;
  #denials = 0;
  #outages = 0;
  #restsUntil = 0;

  constructor(settings: KeelSettings["autoMode"] = {}, { clock, ids }: { clock: Clock; ids: Ids }) {
    const { allow = [], soft_deny: softDeny = [], hard_deny: hardDeny = [], environment = [] } = settings;
    this.#instructions = reviewInstructions({ allow, softDeny, hardDeny, environment });
    this.#model = settings.model;
    this.#clock = clock;
    this.#secret = ids.uuid();
  }

  async review(call: ReviewedCall, consult: Consult, signal: AbortSignal): Promise<Review> {
    const { tool, input, folder, words } = call;
    const whole = canonicalJson({ tool, input, folder, words });
    if (whole.length > maxCallCharacters) return ask("it is too long to be looked at as a whole");
    const known = this.#known.get(whole);
    if (known) return this.#counted(known);
    if (this.#denials >= maxDenials) return ask(`the review has said no ${maxDenials} times in this session`);
    if (this.#denialsInRow >= maxDenialsInRow) {
      this.#denialsInRow = 0;
      return ask(`the review has said no ${maxDenialsInRow} times in a row`);
    }
    if (this.#clock.monotonicMs() < this.#restsUntil) return ask("nobody is there who could look at it");
    const code = fingerprint(this.#secret + whole);
    const review = await this.#consulted(questionAbout(call, code), { code, consult, signal });
    if (typeof review === "string" && signal.aborted) return ask("the turn was stopped");
    if (typeof review === "string") {
      this.#outages += 1;
      if (this.#outages >= maxOutages) this.#restsUntil = this.#clock.monotonicMs() + restMs;
      return ask(review);
    }
    this.#outages = 0;
    if (review.verdict !== "ask" && this.#known.size < maxKnown) this.#known.set(whole, review);
    return this.#counted(review);
  }

  #counted(review: Review): Review {
    if (review.verdict === "allow") this.#denialsInRow = 0;
    if (review.verdict !== "deny") return review;
    this.#denials += 1;
    this.#denialsInRow += 1;
    return review;
  }

  /** A sentence where no verdict came. */
  async #consulted(
    question: string,
    { code, consult, signal }: { code: string; consult: Consult; signal: AbortSignal },
  ): Promise<Review | string> {
    const limit = new AbortController();
    const either = AbortSignal.any([signal, limit.signal]);
    const request = {
      by: { kind: "mode", name: "auto" },
      system: this.#instructions,
      messages: [{ role: "user", text: question }],
      maxTokens: maxReplyTokens,
      ...(this.#model === undefined ? {} : { model: this.#model }),
    } as const;
    const late = this.#clock.sleep(deadlineMs, either).then(() => "the review took too long");
    // What comes after the deadline is nobody's any more.
    const asked = consult(request, either).then(
      (reply) =>
        reply.ok ? (readVerdict(reply.value.text, code) ?? "the review gave no clear answer") : noAnswer,
      () => noAnswer,
    );
    const first = await Promise.race([asked, late]);
    limit.abort();
    return first;
  }
}

const noAnswer = "the review gave no answer";
const ask = (reason: string): Review => ({ verdict: "ask", reason });

/** The call as data; the code stands outside of it, where nothing of it can stand. */
function questionAbout({ tool, input, folder, because, words }: ReviewedCall, code: string): string {
  const said = words.map((text) => enclose("keel-person", {}, text));
  return [
    ...(said.length === 0 ? [] : ["What the person asked for:", ...said]),
    `The code of the call: ${code}`,
    enclose("keel-call", {}, JSON.stringify({ tool, folder, open: because, input }, null, 2)),
  ].join("\n\n");
}

/** Exactly one verdict, about exactly this call. */
function readVerdict(text: string, code: string): Review | undefined {
  const written = parseJsonLine(text.trim());
  if (!written.ok) return undefined;
  const parsed = parseWith(verdictSchema, written.value);
  if (!parsed.ok || parsed.value.call !== code) return undefined;
  const { verdict, reason } = parsed.value;
  return { verdict, reason: shorten(oneLine(reason), maxReasonCharacters) };
}
