/** Server-sent events: what happens in a session, and what is watched, as text for a reader that may be slow. */
import type { ServerResponse } from "node:http";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { type WatchName, watches } from "../../protocol/workspace-operations.ts";
import { drained } from "./http-messages.ts";
import type { DoorLimits } from "./limits.ts";
import { openWatch, watchFrame } from "./watches.ts";

/** Each piece is one event as it is written. Throws before the first what refuses the request. */
export type EventSource = (signal: AbortSignal) => Promise<AsyncIterable<string>>;

/** A durable event has its seq for an id, by which a client comes back. */
export const sessionEvents =
  (served: Pick<ServedSessions, "follow" | "encoded">, session: string, after: string): EventSource =>
  async (signal) => {
    const last = Number(after);
    if (!Number.isSafeInteger(last) || last < 0)
      throw fault("usage", { reason: "after: not a number of an event" });
    const events = await served.follow(session, last, signal);
    return mapped(events, (event) => {
      const id = isDurable(event) && !event.origin ? `id: ${event.seq}\n` : "";
      return `${id}data: ${served.encoded(event)}\n\n`;
    });
  };

/** An update is told when the one before it was taken: what is not taken counts as not drawn. */
export const watchEvents =
  (served: Pick<ServedSessions, "workspaces">, name: WatchName, question: object): EventSource =>
  async (signal) => {
    const parsed = watches[name].question.safeParse(question);
    if (!parsed.success) throw fault("usage", { reason: `${name}: not what this is watched by` });
    const { updates, drew } = await openWatch(served.workspaces, watchFrame(name, parsed.data), signal);
    return mapped(updates, (update) => {
      if ("at" in update) drew(update.at + ("text" in update ? Buffer.byteLength(update.text) : 0));
      return `data: ${JSON.stringify(update)}\n\n`;
    });
  };

async function* mapped<T>(source: AsyncIterable<T>, map: (item: T) => string): AsyncGenerator<string, void> {
  for await (const item of source) yield map(item);
}

export async function streamEvents(
  response: ServerResponse,
  pieces: AsyncIterable<string>,
  { signal, pingMs, drainMs }: Pick<DoorLimits, "pingMs" | "drainMs"> & { readonly signal: AbortSignal },
): Promise<void> {
  const pings = setInterval(() => response.write("event: ping\ndata: {}\n\n"), pingMs);
  try {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for await (const piece of pieces)
      if (!response.write(piece) && !(await drained(response, signal, drainMs)))
        return void response.destroy();
    response.end(signal.aborted ? undefined : "event: ended\ndata: {}\n\n");
  } catch (thrown) {
    response.end(`event: failed\ndata: ${JSON.stringify(toFault(thrown).toData())}\n\n`);
  } finally {
    clearInterval(pings);
  }
}
