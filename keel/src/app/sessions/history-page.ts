/** A page of what a log has, for a screen or a program. Whoever only looks opens nothing. */
import type { Durable } from "../../protocol/event/durable.ts";
import { type AnswerTo, maxHistory, type OperationQuestion } from "../../protocol/operation.ts";

/** What follows an event; a negative number: so many of the last, or more that came meanwhile. */
export type ReadAfter = (after: number) => Promise<AsyncIterable<Durable>>;

/** The events after one, or the last so many of them, as few as a screen needs. */
export async function historyPage(
  read: ReadAfter,
  { after = 0, limit = maxHistory, last }: Omit<OperationQuestion<"history">, "session">,
): Promise<AnswerTo<"history">> {
  if (last !== undefined) {
    const count = Math.max(1, Math.min(last, maxHistory));
    const newest = await Array.fromAsync(await read(-count));
    return { events: newest.filter(({ seq }) => seq > after).slice(-count), more: false };
  }
  const events: Durable[] = [];
  const most = Math.max(1, Math.min(limit, maxHistory));
  for await (const event of await read(after)) {
    if (events.length === most) return { events, more: true };
    events.push(event);
  }
  return { events, more: false };
}
