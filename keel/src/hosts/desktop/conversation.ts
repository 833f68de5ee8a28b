/**
 * One conversation that is open: its messages are taken one after the other, each under its limit of time, and each ends
 * exactly once.
 */
import { approvalAnswer, planAnswer, questionAnswer, refuseAsks } from "../../app/lines/answers.ts";
import { complaintOf } from "../../app/lines/read-line.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { toFault } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import { type Envelope, type EnvelopeOf, type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import { endsWell } from "../../protocol/reasons.ts";
import { askLine, type DesktopLine, type DesktopMemo, noMemo, toLines } from "./dialect.ts";
import type { RequestOf } from "./requests.ts";
import type { DesktopResponse } from "./responses.ts";

export type ConversationWorld = {
  readonly clock: {
    monotonicMs(): number;
    sleep(ms: number, signal: AbortSignal): Promise<void>;
  };
  uuid(): string;
  /** Throws what keeps it from opening. */
  open(id: string): Promise<OpenSession>;
  /** Whether nothing was said in it yet. */
  isEmpty(id: string): Promise<boolean>;
  tell(response: DesktopResponse): void;
  /** A sentence for whoever looks for a mistake. */
  log(words: string): void;
  readonly asks: "answered" | "refused";
  /** How long a question waits before it counts as refused. */
  readonly askMs: number;
  readonly messageMs: number;
};

type QueuedMessage = {
  readonly request: RequestOf<"user_message">;
  /** By which its events are found. */
  readonly inputId: string;
  readonly ended: PromiseWithResolvers<void>;
  state: "waiting" | "running" | "over";
  isStopped: boolean;
  isLate: boolean;
  /** Time in which somebody was asked, which does not count. */
  askedMs: number;
};

/** What hears no stop has its answer all the same. */
const graceMs = 5_000;

export class DesktopConversation {
  readonly id: string;
  readonly #world: ConversationWorld;
  #session: Promise<OpenSession> | undefined;
  #opened: OpenSession | undefined;
  #memo: DesktopMemo = noMemo;
  readonly #messages: QueuedMessage[] = [];
  #work: Promise<void> = Promise.resolve();
  readonly #asked = new Map<string, { readonly sinceMs: number; readonly closed: AbortController }>();
  #isAlone = false;

  constructor(id: string, world: ConversationWorld) {
    this.id = id;
    this.#world = world;
  }

  get isBusy(): boolean {
    return this.#messages.length > 0;
  }

  get asks(): number {
    return this.#opened?.openAsks().length ?? 0;
  }

  idsOf(state: "running" | "waiting"): string[] {
    return this.#messages.filter((one) => one.state === state).map(({ request }) => request.id);
  }

  /** Never throws: what goes wrong is the answer. */
  take(request: RequestOf<"user_message">): void {
    const message: QueuedMessage = {
      request,
      inputId: this.#world.uuid(),
      ended: Promise.withResolvers(),
      state: "waiting",
      isStopped: false,
      isLate: false,
      askedMs: 0,
    };
    this.#messages.push(message);
    void this.#inTurn(() => this.#perform(message));
  }

  /** Stops what runs; what waits goes on. The ids of what was stopped. */
  async interrupt(): Promise<string[]> {
    const running = this.#messages.slice(0, 1);
    await this.#stop(running);
    return running.map(({ request }) => request.id);
  }

  /** Stops what runs and what waits; then the conversation starts anew. The ids of what was stopped. */
  async clear(): Promise<string[]> {
    const all = [...this.#messages];
    const stopping = this.#stop(all);
    // Before whatever is said from now on.
    await this.#inTurn(async () => {
      await stopping;
      if (!this.#session && (await this.#world.isEmpty(this.id))) return;
      const session = await this.#open();
      await session.idle().catch(() => undefined);
      await session.submit({ type: "clear" });
    });
    return all.map(({ request }) => request.id);
  }

  async answer(given: RequestOf<"answer_ask">): Promise<Result<void>> {
    const session = this.#opened;
    const ask = session?.openAsks().find(({ id }) => id === given.ask_id);
    if (!session || !ask) return failed("There is no such question, or it is over.");
    const answer = answerTo(ask, given);
    if (!answer.ok) return answer;
    const receipt = await session.submit({ type: "answer", askId: ask.id, answer: answer.value });
    return receipt.type === "late" ? failed("The question was answered before, or is over.") : ok(undefined);
  }

  hasAsk(askId: string): boolean {
    return this.#opened?.openAsks().some(({ id }) => id === askId) ?? false;
  }

  /** Nobody can be asked any more. */
  refuseAll(): void {
    this.#isAlone = true;
    if (this.#opened) refuseAsks(this.#opened, () => true);
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    while (this.isBusy) await this.#work;
  }

  /** What runs and what waits is stopped, and each has its end. */
  async close(): Promise<void> {
    const stopping = this.#stop(this.#messages);
    const session = await this.#session?.catch(() => undefined);
    try {
      // Whoever stops the conversation does not want what waits in it; a later opening must not run it unasked.
      await session?.close("stopped", "dropped");
    } finally {
      await stopping.catch(() => undefined);
      for (const message of [...this.#messages])
        this.#fail(message, { error: "The conversation was closed.", code: "closed" });
    }
  }

  async #stop(messages: readonly QueuedMessage[]): Promise<void> {
    for (const message of messages) message.isStopped = true;
    await this.#opened?.submit({ type: "interrupt", dropQueued: true });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #perform(message: QueuedMessage): Promise<void> {
    if (message.isStopped) return this.#stopped(message);
    message.state = "running";
    const limit = new AbortController();
    void this.#limit(message, limit.signal);
    try {
      await Promise.race([this.#submit(message), message.ended.promise]);
    } catch (thrown) {
      const fault = toFault(thrown);
      const { code, message: error } = complaintOf(fault);
      this.#fail(message, { error, code, fault: fault.code });
    } finally {
      await message.ended.promise;
      limit.abort();
    }
  }

  async #submit(message: QueuedMessage): Promise<void> {
    const { request, inputId } = message;
    const session = await this.#open();
    if (message.isStopped) return this.#stopped(message);
    // What people bring in files may have changed since: agents and commands are found as they are now.
    if (/^[@/]/.test(request.message)) await session.reload();
    const receipt = await session.submit({ type: "input", id: inputId, content: contentOf(request) });
    // Answered without a turn.
    if (receipt.type === "ran")
      this.#done(message, { status: "completed", command: receipt.command, text: this.#memo.said });
    // Stopped while it was on its way.
    else if (message.isStopped) await session.submit({ type: "interrupt", dropQueued: true });
  }

  /** Time in which a person is asked does not count. */
  async #limit(message: QueuedMessage, over: AbortSignal): Promise<void> {
    const { clock, messageMs } = this.#world;
    const allowedMs = message.request.timeout_ms ?? messageMs;
    const startedMs = clock.monotonicMs();
    for (;;) {
      const usedMs = clock.monotonicMs() - startedMs - message.askedMs;
      if (usedMs >= allowedMs && this.#asked.size === 0) break;
      await clock.sleep(Math.max(100, allowedMs - usedMs), over);
      if (over.aborted) return;
    }
    message.isLate = true;
    await this.interrupt().catch(() => undefined);
    await clock.sleep(graceMs, over);
    this.#stopped(message);
  }

  #open(): Promise<OpenSession> {
    this.#session ??= this.#world.open(this.id).then(
      (session) => {
        this.#opened = session;
        for (const { text: words } of session.notices) this.#world.log(words);
        session.onEvent((envelope) => this.#hear(envelope));
        if (this.#world.asks === "refused" || this.#isAlone) refuseAsks(session, () => true);
        for (const ask of session.openAsks()) this.#tellAsk(ask);
        void session.closed.then(() => {
          this.#session = undefined;
          this.#opened = undefined;
        });
        return session;
      },
      (thrown: unknown) => {
        // The next message tries again.
        this.#session = undefined;
        throw thrown;
      },
    );
    return this.#session;
  }

  #hear(envelope: Envelope): void {
    const [lines, next] = toLines(envelope, this.#memo);
    this.#memo = next;
    for (const line of lines) this.#tell(line);
    if (envelope.type === "ask.opened") this.#waitForAnswer(envelope.ask.id);
    if (envelope.type === "ask.closed") this.#answered(envelope.askId);
    if (!envelope.origin) handle(this.#ends, envelope);
  }

  readonly #ends: EventHandlers<Envelope, [], void> = {
    "turn.finished": (event) => this.#turnEnds(event),
    "input.dropped": (event) => this.#dropped(event),
    "notice.raised": ({ text: words }) => this.#world.log(words),
  };

  #tell({ inputId, ...line }: DesktopLine): void {
    const message = this.#messages.find((one) => one.inputId === inputId);
    const running = message ?? (inputId === undefined ? this.#running() : undefined);
    const id = running?.request.id;
    this.#world.tell({ ...line, ...(id === undefined ? {} : { id }), conversation_id: this.id });
  }

  /** Commands are answered and words are asked about before there is a turn. */
  #running(): QueuedMessage | undefined {
    return this.#memo.inputIds.length > 0
      ? undefined
      : this.#messages.find(({ state }) => state === "running");
  }

  #tellAsk(ask: Ask): void {
    this.#tell(askLine(ask));
    this.#waitForAnswer(ask.id);
  }

  #waitForAnswer(askId: string): void {
    const { clock, askMs, asks } = this.#world;
    if (asks === "refused" || this.#asked.has(askId)) return;
    const closed = new AbortController();
    this.#asked.set(askId, { sinceMs: clock.monotonicMs(), closed });
    void clock.sleep(askMs, closed.signal).then(async () => {
      if (closed.signal.aborted) return;
      this.#world.log("A question was not answered in time and counts as refused.");
      const answer = { verdict: "deny", reason: "Nobody answered in time." } as const;
      await this.#opened?.submit({ type: "answer", askId, answer, by: "no-host" }).catch(() => undefined);
    });
  }

  #answered(askId: string): void {
    const asked = this.#asked.get(askId);
    this.#asked.delete(askId);
    asked?.closed.abort();
    const message = this.#messages.find(({ state }) => state === "running");
    if (asked && message && this.#asked.size === 0)
      message.askedMs += this.#world.clock.monotonicMs() - asked.sinceMs;
  }

  #turnEnds({ inputIds, reason, fault, costUsd, usage, ms }: EnvelopeOf<"turn.finished">): void {
    const message = this.#messages.find(({ inputId }) => inputIds.includes(inputId));
    if (!message) return;
    if (reason === "interrupted" || message.isLate) return this.#stopped(message);
    if (endsWell(reason)) {
      const { inputTokens, outputTokens } = usage;
      const bill = { costUsd, inputTokens, outputTokens, durationMs: ms };
      return this.#done(message, { status: reason, text: this.#memo.said, ...bill });
    }
    const error = (fault?.message ?? `The turn ended early: ${reason.replaceAll("_", " ")}.`).slice(0, 1_000);
    this.#fail(message, { error, code: "failed", fault: fault?.code ?? reason });
  }

  #dropped({ inputId, why, reason }: EnvelopeOf<"input.dropped">): void {
    const message = this.#messages.find((one) => one.inputId === inputId);
    if (!message) return;
    if (message.isStopped || why === "cancelled") return this.#stopped(message);
    this.#fail(message, { error: reason ?? "The message was not taken.", code: "failed", fault: why });
  }

  #stopped(message: QueuedMessage): void {
    if (message.isLate)
      this.#fail(message, {
        error: "The message took longer than its limit and was stopped.",
        code: "timeout",
      });
    else this.#done(message, { status: "interrupted" });
  }

  #done(message: QueuedMessage, data: JsonObject): void {
    this.#end(message, {
      type: "done",
      id: message.request.id,
      data: { conversation_id: this.id, session_id: this.id, ...data },
    });
  }

  #fail(
    message: QueuedMessage,
    why: Pick<Extract<DesktopResponse, { type: "error" }>, "error" | "code" | "fault">,
  ): void {
    this.#end(message, { type: "error", id: message.request.id, conversation_id: this.id, ...why });
  }

  /** The first end counts. */
  #end(message: QueuedMessage, response: DesktopResponse): void {
    if (message.state === "over") return;
    message.state = "over";
    this.#messages.splice(this.#messages.indexOf(message), 1);
    this.#world.tell(response);
    message.ended.resolve();
  }
}

function contentOf({ message, images }: RequestOf<"user_message">): InputBlock[] {
  return [
    ...(message === "" ? [] : [text(message)]),
    ...images.map(({ data, mime_type: mediaType }): InputBlock => ({ type: "image", mediaType, data })),
  ];
}

function answerTo(ask: Ask, given: RequestOf<"answer_ask">): Result<Answer> {
  const { approved } = given;
  const reason = given.reason ?? undefined;
  if (ask.kind === "question")
    return questionAnswer({ answers: given.answers ?? undefined, cancelled: !approved }, ask);
  if (ask.kind === "plan")
    return ok(planAnswer({ approved, reason, mode: given.option === "edits" ? "acceptEdits" : "default" }));
  const { option, input, data } = given;
  return approvalAnswer(
    { approved, reason, option: option ?? undefined, input: input ?? undefined, data: data ?? undefined },
    ask,
  );
}
