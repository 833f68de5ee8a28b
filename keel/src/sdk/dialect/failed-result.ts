/** A query whose last result is a failure is thrown by its iterator when everything is over, as the interface's is. */
import { Fault, fault } from "../../kernel/fault.ts";
import type { SDKSentMessage } from "../messages/messages.ts";
import type { Outlet } from "./message-emitter.ts";

export class LastResult {
  #text: string | undefined;
  #isNewest = false;

  hear(message: SDKSentMessage): void {
    this.#isNewest = message.type === "result";
    if (message.type !== "result") return;
    const words = message.subtype === "success" ? message.result : message.errors.join("; ");
    this.#text = message.is_error ? words : undefined;
  }

  /** Undefined where the last result is none, or was no failure. */
  get failure(): Fault | undefined {
    return this.#text === undefined ? undefined : fault("result_failed", { text: this.#text });
  }

  /** What broke a session right after a failed result is what the result tells of. */
  named(thrown: unknown): unknown {
    const { failure } = this;
    if (!failure || !this.#isNewest || !(thrown instanceof Fault)) return thrown;
    return new Fault(thrown.code, failure.message, thrown.detail, thrown);
  }
}

/** Who closes a query, or leaves it, is told nothing more. */
export function throwing(messages: Outlet): Outlet {
  const last = new LastResult();
  return {
    push(message) {
      last.hear(message);
      return messages.push(message);
    },
    fail: (thrown) => messages.fail(last.named(thrown)),
    end(how) {
      if (how === "answered" && last.failure) messages.fail(last.failure);
      else messages.end();
    },
  };
}
