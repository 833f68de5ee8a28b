/** What goes to an SDK: messages and control frames in the order in which they happen, one JSON object per line. */
import { setTimeout as pause } from "node:timers/promises";
import { type Fault, toFault } from "../../kernel/fault.ts";
import { toLine } from "../../kernel/json.ts";
import { uuidFrom } from "../../kernel/uuid.ts";
import type { ControlFrame } from "../../sdk/control/frames.ts";
import type { Outlet } from "../../sdk/dialect/message-emitter.ts";
import type { SDKSentMessage } from "../../sdk/messages/messages.ts";
import type { Context } from "../cli/context.ts";
import { piecesFor } from "../cli/output.ts";
import type { MirrorMessage } from "./transcript.ts";

/** From here on nothing more is read until the other side has read: who does not listen is not heard either. */
const maxWaitingBytes = 8 * 1024 * 1024;
const lookEveryMs = 20;

export class WireOutput implements Outlet {
  readonly #out: Context["out"];
  readonly #pieces: ReturnType<typeof piecesFor>;
  readonly #over: PromiseWithResolvers<Fault | undefined> = Promise.withResolvers();
  #lastFailed = false;
  #told = 0;
  /** Of the newest message; empty before the first. */
  sessionId = "";

  constructor(out: Context["out"]) {
    this.#out = out;
    this.#pieces = piecesFor(out);
  }

  /** The session is over: undefined, or why it broke. */
  get over(): Promise<Fault | undefined> {
    return this.#over.promise;
  }

  /** Whether the newest result was a failure. */
  get lastFailed(): boolean {
    return this.#lastFailed;
  }

  push(message: SDKSentMessage): boolean {
    if (message.type === "result") this.#lastFailed = message.is_error;
    if (this.#pieces.mayPass(message)) this.#out.line(toLine(message));
    return true;
  }

  /** What is beside the messages of the session. */
  send(frame: ControlFrame | MirrorMessage): void {
    this.#out.line(toLine(frame));
  }

  /** A line that could not be used: the other side learns of it, and the session goes on. */
  tellBad({ message, code }: Pick<Fault, "message" | "code">): void {
    this.#told += 1;
    this.push({
      type: "system",
      subtype: "informational",
      level: "warning",
      content: message,
      tag: code,
      uuid: uuidFrom(`${this.sessionId}/bad line/${this.#told}`),
      session_id: this.sessionId,
    });
  }

  fail(thrown: unknown): void {
    this.#over.resolve(toFault(thrown));
  }

  end(): void {
    this.#over.resolve(undefined);
  }

  /** Resolves when the other side has read enough, or is gone. */
  async room(): Promise<void> {
    while (this.#out.waitingBytes > maxWaitingBytes && !this.#out.isClosed) await pause(lookEveryMs);
  }
}
