// Lines over a pair of pipes as a wire of messages: the client's end of `keel serve --stdio`.
import type { Readable, Writable } from "node:stream";
import { lineReader } from "../../keel/src/transport/lines.ts";
import type { MessageWire } from "../../keel/src/transport/message-wire.ts";

export function pipeWire({ input, output }: { input: Readable; output: Writable }): MessageWire {
  const closed = Promise.withResolvers<string>();
  const lines = lineReader({ maxBytes: 16 * 1024 * 1024 });
  let listener: (message: string) => void = () => undefined;
  input.on("data", (chunk: Buffer) => {
    for (const read of lines.push(chunk)) if (read.ok) listener(read.line);
  });
  input.once("close", () => closed.resolve("the pipe was closed"));
  input.once("end", () => closed.resolve("the pipe has ended"));
  output.on("error", () => closed.resolve("the pipe broke"));
  return {
    // As any wire: once it is closed, nobody hears what is sent.
    send: (message) => {
      if (!output.writableEnded) output.write(`${message}\n`);
    },
    onMessage: (heard) => {
      listener = heard;
    },
    closed: closed.promise,
    close: () => {
      output.end();
      closed.resolve("closed here");
    },
  };
}
