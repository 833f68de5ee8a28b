/**
 * A channel to the server that is kept: opened anew whenever it was cut, with pauses that grow, by a socket or, where
 * none gets through, by a stream and posts; and given up at last.
 */
import { bridgeBackoff, PatientRetry, type RetryPorts } from "../../kernel/backoff.ts";
import { Fault } from "../../kernel/fault.ts";
import type { ChannelVia, ChannelWire } from "../../transport/node/channel-wire.ts";

export type KeptChannelOptions = {
  readonly retry: RetryPorts;
  /** Only this way; both in turn when left out, by the one that worked last. */
  readonly via?: ChannelVia | undefined;
  open(via: ChannelVia, signal: AbortSignal): Promise<ChannelWire>;
  /** Speaks over the wire from now on. Calls `greeted` when the other side has taken it. */
  begin(wire: ChannelWire, greeted: () => void): void;
  /** The wire is gone. */
  lost(reason: string): void;
};

/** Resolves when the signal has fired, or as `given-up`. Throws `bridge_refused`. */
export async function keepChannel(
  { retry, via: only, open, begin, lost }: KeptChannelOptions,
  signal: AbortSignal,
): Promise<"stopped" | "given-up"> {
  const connection = new PatientRetry(bridgeBackoff.connection, retry);
  const general = new PatientRetry(bridgeBackoff.general, retry);
  let via: ChannelVia = only ?? "websocket";
  while (!signal.aborted) {
    let failed = connection;
    try {
      const wire = await open(via, signal);
      begin(wire, () => {
        connection.succeeded();
        general.succeeded();
      });
      const reason = await wire.closed;
      if (signal.aborted) break;
      lost(reason);
    } catch (thrown) {
      if (signal.aborted) break;
      if (thrown instanceof Fault && thrown.code === "bridge_refused") throw thrown;
      // The server is there and could not do it: that is another thing than a way that is not.
      if (thrown instanceof Fault && thrown.code === "bridge_failed") failed = general;
      else via = only ?? (via === "websocket" ? "sse" : "websocket");
      lost(thrown instanceof Error ? thrown.message : String(thrown));
    }
    if ((await failed.failed(signal)) === "given-up") return "given-up";
  }
  return "stopped";
}
