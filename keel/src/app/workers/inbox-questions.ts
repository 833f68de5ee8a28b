/** What is asked of a session that another worker has: a row of the inbox, and its answer. */
import { Fault, type FaultData, fault } from "../../kernel/fault.ts";
import { asObject } from "../../kernel/json.ts";
import type { Caller, OperationName } from "../../protocol/operation.ts";
import type { PostgresHub } from "../../store/postgres/hub.ts";
import type { Home } from "../home.ts";
import type { FollowedSessions } from "./followed-sessions.ts";

export type InboxOptions = {
  readonly home: Home;
  readonly hub: PostgresHub;
  readonly followed: FollowedSessions;
  readonly closing: AbortSignal;
};

/** Nobody has the session, or nobody can: a client hears of it and may ask again. */
const patienceMs = 30_000;
/** Whoever follows a session from here has read it by then, before something is done in it from here. */
const settleMs = 5_000;
/** For an answer whose notice was lost. */
const askAgainMs = 500;

export class InboxQuestions {
  readonly #options: InboxOptions;
  readonly #waiting = new Map<string, (answer: unknown) => void>();

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Throws what it throws there, and `link_lost` where nobody has answered in time. */
  async ask(name: OperationName, session: string, question: unknown, caller: Caller): Promise<unknown> {
    const { home, hub, followed, closing } = this.#options;
    const given = asObject(question);
    const commandId = typeof given["commandId"] === "string" ? given["commandId"] : home.ids.uuid();
    const id = `${session} ${name} ${commandId}`;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, closing]);
    this.#waiting.set(id, resolve);
    try {
      const follower = followed.current(session);
      if (follower) await Promise.race([follower.settled(), home.clock.sleep(settleMs, signal)]);
      await hub.post({ id, session, operation: name, question: named(name, given, commandId), caller });
      void this.#askAgain(id, signal);
      return answered(await Promise.race([promise, home.clock.sleep(patienceMs, signal)]));
    } finally {
      over.abort();
      this.#waiting.delete(id);
    }
  }

  /** One of them is answered. */
  async look(id: string): Promise<void> {
    if (!this.#waiting.has(id)) return;
    const answers = await this.#options.hub.answers([id]).catch(() => new Map<string, unknown>());
    if (answers.has(id)) this.#waiting.get(id)?.(answers.get(id));
  }

  async #askAgain(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look(id);
      await this.#options.home.clock.sleep(askAgainMs, signal);
    }
  }
}

/** An input has a name before it goes: whoever does it twice knows it again by its log. */
function named(
  name: OperationName,
  question: Record<string, unknown>,
  commandId: string,
): Record<string, unknown> {
  if (name === "message") return { id: commandId, ...question };
  const command = asObject(question["command"]);
  if (name !== "submit") return question;
  return {
    ...question,
    commandId,
    command: command["type"] === "input" ? { id: commandId, ...command } : command,
  };
}

function answered(answer: unknown): unknown {
  if (answer === undefined) throw fault("link_lost", { reason: "no worker has answered for the session" });
  const { fault: refused, answer: said } = asObject(answer);
  if (refused === undefined) return said;
  const { code, message, detail } = refused as FaultData;
  throw new Fault(code, message, detail ?? {}, undefined);
}
