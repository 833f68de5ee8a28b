/** A session as an object: `send` a message, `stream` what comes of it, `close` when done. */
import { fault } from "../../kernel/fault.ts";
import { Queue } from "../../kernel/queue.ts";
import type { SDKMessage } from "../messages/messages.ts";
import type { UserMessage } from "../messages/read-content.ts";
import type { Options } from "../options/options.ts";
import { runsApart } from "../process/apart.ts";
import { Conversation, maxWaiting } from "./conversation.ts";

export interface SDKSession {
  readonly sessionId: string;
  /** Resolves when the message is safe on disk. */
  send(message: string | UserMessage): Promise<void>;
  /** The messages up to and with the next result. */
  stream(): AsyncGenerator<SDKMessage, void>;
  interrupt(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Throws what kept it from opening. */
export async function createSession(options: Options = {}): Promise<SDKSession> {
  if (runsApart(options))
    throw fault("usage", { reason: "A session object lives in this process: use query() for another one." });
  const out = new Queue<SDKMessage>({ limit: maxWaiting });
  const conversation = new Conversation(options, out);
  const { id } = await conversation.open();
  const messages = out[Symbol.asyncIterator]();
  return {
    sessionId: id,
    send: (message) => conversation.say(message),
    async *stream() {
      for (;;) {
        const { done, value } = await messages.next();
        if (done) return;
        yield value;
        if (value.type === "result") return;
      }
    },
    async interrupt() {
      await conversation.submit({ type: "interrupt" });
    },
    close: () => conversation.close(),
    [Symbol.asyncDispose]: () => conversation.close(),
  };
}

/** Throws `session_unknown`, or `session_busy` while it is open elsewhere. */
export async function resumeSession(sessionId: string, options: Options = {}): Promise<SDKSession> {
  if (sessionId === "") throw fault("usage", { reason: "Name the session that is to go on." });
  return createSession({ ...options, resume: sessionId });
}
