/** The agent of a group as a session: what is said to it are inputs by their ids, and its log says what came of each. */
import { fault } from "../../kernel/fault.ts";
import type { AgentSays, GroupAgent } from "../../ports/groups.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle, isDurable } from "../../protocol/event/envelope.ts";
import type { ChatGroup } from "../../protocol/group.ts";
import { lastTextOf, text } from "../../protocol/message.ts";
import { endsWell } from "../../protocol/reasons.ts";
import type { OpenSession } from "../open-session.ts";

type GroupAgentPorts = {
  /** Its session, or another, open: taken up where there is one, begun where there is none. */
  use(session: string | undefined): Promise<OpenSession>;
};

/** By this its session knows what was said by the group. */
export const channelOf = (group: string): string => `group ${group}`;

export function sessionAgent({ id: name }: Pick<ChatGroup, "id">, { use }: GroupAgentPorts): GroupAgent {
  return {
    async *say({ id, text: told, isAlone, session: other }, signal) {
      const session = await use(other);
      const settled = Promise.withResolvers<readonly AgentSays[]>();
      const reply = new AnswerOf(id, settled.resolve);
      const stop = session.onEvent((event) => {
        if (event.origin === undefined && isDurable(event)) reply.hear(event);
      });
      const interrupt = (): void => void session.submit({ type: "interrupt" }).catch(() => undefined);
      try {
        await session.submit({
          type: "input",
          id,
          content: [text(told)],
          from: { kind: "channel", name: channelOf(name) },
          ...(isAlone ? { when: "after" as const } : {}),
          words: "as-is",
        });
        yield { kind: "taken" };
        // One that an earlier process said already: the log knows what became of it.
        const past = new AnswerOf(id, settled.resolve);
        if (!reply.isNew) for await (const event of session.history()) past.hear(event);
        signal.addEventListener("abort", interrupt, { once: true });
        if (signal.aborted) interrupt();
        const closed = session.closed.then(() => {
          throw fault("session_closed", {});
        });
        yield* await Promise.race([settled.promise, closed]);
      } finally {
        stop();
        signal.removeEventListener("abort", interrupt);
      }
    },
  };
}

/** The last text of the turn that an input was answered in. */
class AnswerOf {
  readonly #input: string;
  readonly #settle: (says: readonly AgentSays[]) => void;
  #last = "";
  /** Whether the session has taken the input just now. */
  isNew = false;

  constructor(input: string, settle: (says: readonly AgentSays[]) => void) {
    this.#input = input;
    this.#settle = settle;
  }

  hear(event: DurableEvent): void {
    handle(this.#heard, event);
  }

  readonly #heard: EventHandlers<DurableEvent, [], void> = {
    "input.accepted": ({ input }) => {
      if (input.id === this.#input) this.isNew = true;
    },
    "turn.started": () => {
      this.#last = "";
    },
    "model.finished": ({ content }) => {
      this.#last = lastTextOf(content) || this.#last;
    },
    "input.dropped": ({ inputId, why }) => {
      if (inputId === this.#input) this.#settle([{ kind: "end", how: "failed", why }]);
    },
    "turn.finished": ({ inputIds, reason }) => {
      if (!inputIds.includes(this.#input)) return;
      const isGood = endsWell(reason);
      // Several messages that became one turn have one answer: the last of them brings it.
      const says = isGood && this.#last !== "" && inputIds.at(-1) === this.#input;
      this.#settle([
        ...(says ? [{ kind: "result", at: 0, text: this.#last } as const] : []),
        { kind: "end", how: isGood ? "done" : "failed", why: reason },
      ]);
    },
  };
}
