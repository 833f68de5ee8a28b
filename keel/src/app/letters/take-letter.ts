/**
 * A letter comes in: within bounds, by the policy of whoever it is for, and then as an input by the same command that a
 * person uses. It counts as taken when it is on record; a second one of the same id is the same letter.
 */
import type { AgentTree } from "../../agents/tree.ts";
import { enclose } from "../../core/context/enclose.ts";
import type { Session } from "../../engine/session.ts";
import { toFault } from "../../kernel/fault.ts";
import { shorten } from "../../kernel/text.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Ask, answerSchema } from "../../protocol/ask.ts";
import { text } from "../../protocol/message.ts";
import type { ArrivedLetter, LetterAnswer } from "./letter.ts";

/** Whoever sends waits for the answer: a person who does not look now is asked again by a later letter. */
const askWaitMs = 2 * 60_000;
/** Questions about letters that are open at once. */
const maxAsked = 3;

type Receiver = {
  readonly session: Session;
  readonly tree: Pick<AgentTree, "bounds">;
  readonly clock: Clock;
  readonly policy: "ask" | "allow";
};

export class LetterBox {
  readonly #receiver: Receiver;
  /** From whom a person takes all, as long as this session is open. */
  readonly #welcome = new Set<string>();
  readonly #asking = new Map<string, Promise<LetterAnswer>>();

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Never rejects. */
  async take(letter: ArrivedLetter, signal: AbortSignal): Promise<LetterAnswer> {
    const { policy, tree, session } = this.#receiver;
    const id = uuidFrom(`letter/${letter.from}/${letter.id}`);
    try {
      await session.reload();
      const why = tree.bounds.arrive(letter);
      if (why !== undefined) return refused(why);
      if (policy === "ask" && !this.#welcome.has(letter.from)) {
        const asked = this.#asking.get(id) ?? this.#ask(id, letter, signal);
        this.#asking.set(id, asked);
        const answer = await asked.finally(() => this.#asking.delete(id));
        if (!answer.ok) return answer;
      }
      tree.bounds.heard(letter.way);
      await session.submit({
        type: "input",
        id,
        content: [text(enclose("keel-message", { from: letter.from }, letter.words))],
        from: { kind: "agent", name: letter.from },
        when: "now",
      });
      return { ok: true };
    } catch (thrown) {
      return refused(
        toFault(thrown).code === "queue_full"
          ? "Too many messages wait for it already. Wait until it has read them."
          : "It takes no messages any more.",
      );
    }
  }

  /** What nobody answers in time is refused, and so is what its sender does not wait for. */
  async #ask(id: string, { from, words }: ArrivedLetter, signal: AbortSignal): Promise<LetterAnswer> {
    const { session, clock } = this.#receiver;
    if (this.#asking.size >= maxAsked) return refused("Its person is asked about other messages already.");
    const ask: Ask = {
      id: `letter/${id}`,
      kind: "permission",
      title: `Take a message from ${from}?`,
      body: { kind: "text", text: words },
      reason: "another session of yours wants to tell this one something",
      options: [
        { id: "once", label: "Yes", verdict: "allow" },
        { id: "all", label: "Yes, and all from it while this session is open", verdict: "allow" },
        { id: "no", label: "No", verdict: "deny" },
      ],
    };
    const answered = new AbortController();
    const withdraw = (reason: string): void => {
      if (answered.signal.aborted) return;
      const answer = answerSchema.parse({ verdict: "deny", reason });
      session.submit({ type: "answer", askId: ask.id, answer, by: "no-host" }).catch(() => undefined);
    };
    void clock.sleep(askWaitMs, answered.signal).then(() => withdraw("Nobody answered in time."));
    const left = (): void => withdraw("Its sender waits no more.");
    signal.addEventListener("abort", left, { once: true });
    void session.notify({ message: ask.title, title: shorten(words, 200), kind: "permission_prompt" });
    try {
      const { answer, by } = await session.ask(ask);
      if (answer.verdict === "allow") {
        if (answer.option === "all") this.#welcome.add(from);
        return { ok: true };
      }
      return refused(
        by === "timeout" || by === "no-host"
          ? "Nobody answered there whether it is taken."
          : "Its person did not take the message.",
      );
    } finally {
      answered.abort("over");
      signal.removeEventListener("abort", left);
    }
  }
}

const refused = (why: string): LetterAnswer => ({ ok: false, why });
