/** A session of the server as somebody of this machine follows it: told from a moment on, with the questions that are open. */
import type { KeelClient } from "../../client/connect.ts";
import type { Ask } from "../../protocol/ask.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { Envelope } from "../../protocol/event/envelope.ts";
import type { SessionHandle } from "../../protocol/handle.ts";

export type AttachedSession = {
  readonly handle: SessionHandle;
  /** The last event before what is told. */
  readonly seq: number;
  /** The last events before it was followed, the newest last. */
  readonly recent: readonly Durable[];
  submit(command: Command): Promise<Receipt>;
  onEvent(listener: (envelope: Envelope) => void): () => void;
  openAsks(): readonly Ask[];
  /** Tells whoever listens by now. Ends with the session or the signal; throws what keeps it from being followed. */
  follow(signal: AbortSignal): Promise<void>;
};

/** Throws `session_unknown`, `session_busy` where another process has it, and `link_lost`. */
export async function attachTo(
  client: KeelClient,
  id: string,
  recentCount: number,
): Promise<AttachedSession> {
  const handle = client.attach(id);
  const { seq } = await client.session(id);
  const recent =
    recentCount === 0 ? [] : (await client.history({ session: id, last: recentCount })).events.slice();
  const after = recent.at(-1)?.seq ?? seq;
  const asks = new Map((await handle.asks()).map((ask) => [ask.id, ask]));
  // Those are known: the event that opened one of them may still come.
  const known = new Set(asks.keys());
  const listeners = new Set<(envelope: Envelope) => void>();
  const isNews = (event: Envelope): boolean => {
    if (event.type === "ask.closed") asks.delete(event.askId);
    if (event.type !== "ask.opened") return true;
    if (known.has(event.ask.id)) return false;
    asks.set(event.ask.id, event.ask);
    return true;
  };
  return {
    handle,
    seq: after,
    recent,
    submit: (command) => handle.submit(command),
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    openAsks: () => [...asks.values()],
    async follow(signal) {
      for await (const event of handle.events(after, signal))
        if (isNews(event)) for (const tell of listeners) tell(event);
    },
  };
}
