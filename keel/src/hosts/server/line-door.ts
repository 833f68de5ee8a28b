/** The door over pipes: frames of `keel.v1` as lines, for whoever started this process. */
import type { Writable } from "node:stream";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { maxFrameBytes } from "../../protocol/wire.ts";
import { lineReader } from "../../transport/lines.ts";
import { closeCodes, openConnection } from "./connection.ts";

export type LineDoorOptions = {
  readonly served: Pick<ServedSessions, "call" | "follow" | "encoded" | "workspaces">;
  readonly hello: { readonly keel: string; readonly boot: string };
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: Writable;
};

const drainMs = 30_000;

/** Resolves when the other side has gone, or was sent away. */
export async function serveLines({ served, hello, input, output }: LineDoorOptions): Promise<void> {
  const gone = new AbortController();
  const connection = openConnection({
    served,
    hello,
    device: { access: "work", name: "this machine" },
    peer: {
      send: (message) => output.write(`${message}\n`),
      hasRoom: () => !output.writableNeedDrain,
      drained: () =>
        new Promise((resolve) => {
          if (!output.writableNeedDrain) return resolve(true);
          const timer = setTimeout(() => resolve(false), drainMs);
          output.once("drain", () => {
            clearTimeout(timer);
            resolve(true);
          });
        }),
      close: () => gone.abort(),
    },
  });
  output.on("error", () => gone.abort());
  const lines = lineReader({ maxBytes: maxFrameBytes });
  const take = (found: ReturnType<typeof lines.push>): void => {
    for (const read of found) {
      if (read.ok) connection.receive(read.line);
      else gone.abort(closeCodes.wrongFrame);
    }
  };
  for await (const chunk of input) {
    take(lines.push(chunk));
    if (gone.signal.aborted) break;
  }
  take(lines.end());
  // Who sends its last request and hears out the answer is served.
  if (!gone.signal.aborted) await connection.answered();
  connection.end();
}
