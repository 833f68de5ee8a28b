/** The wire in order: what must come after a response waits until it is written, and no message overtakes another. */
import type { AnyMessage, JsonRpcId, Stream } from "@agentclientprotocol/sdk";

export class Outbox {
  readonly #after = new Map<JsonRpcId, (() => void)[]>();

  /** Runs when the response to this request has been written, whether it is a result or an error. */
  after(id: JsonRpcId, work: () => void): void {
    this.#after.set(id, [...(this.#after.get(id) ?? []), work]);
  }

  /**
   * The stream, with each message that goes out looked at. One that comes in is given on when the one before it has
   * reached whoever handles it: the library looks for that by steps, and a cancel would find its way before its prompt.
   */
  watch({ readable, writable }: Stream): Stream {
    const writer = writable.getWriter();
    const oneByOne = new TransformStream<AnyMessage, AnyMessage>({
      async transform(message, controller) {
        controller.enqueue(message);
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    return {
      readable: readable.pipeThrough(oneByOne),
      writable: new WritableStream<AnyMessage>({
        write: async (message) => {
          await writer.write(message);
          if (!("method" in message) && message.id !== undefined) this.#written(message.id);
        },
        close: () => writer.close(),
        abort: (reason) => writer.abort(reason),
      }),
    };
  }

  #written(id: JsonRpcId): void {
    const due = this.#after.get(id) ?? [];
    this.#after.delete(id);
    for (const work of due) work();
  }
}
