/** Sends a scripted stream over a response: with back-pressure, at the pace of the script, broken where it says so. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { brokenOff, type ReadyReply } from "./answers.ts";
import type { Wire } from "./wires/wire.ts";

/** Records are joined up to this size: 50,000 small writes would measure the socket and not the reader. */
const batchCharacters = 32 * 1024;
const defaultPingEveryMs = 250;

/** How the stream ended; `gone` when the reader left or the server closes. */
export type StreamEnding = "complete" | "cut" | "gone";

/**
 * Writes the records of a reply. Settles when all was handed over, when the stream was broken as scripted (the caller
 * then destroys it), or soon after the signal fires.
 */
export async function sendStream(
  out: Writable,
  wire: Wire,
  reply: ReadyReply,
  signal: AbortSignal,
): Promise<StreamEnding> {
  const { fault } = reply;
  const breaks = fault?.kind === "cut" || fault?.kind === "stall";
  const records = breaks ? brokenOff(wire.records(reply), fault.afterEvents) : wire.records(reply);
  try {
    await writeAll(out, withPing(records, wire), reply.betweenMs, signal);
    if (fault?.kind === "stall") await stall(out, wire, fault, signal);
    if (fault?.kind === "cut" && fault.error) {
      await write(out, wire.errorRecord(fault.error), signal);
      return "complete";
    }
    return fault?.kind === "cut" ? "cut" : "complete";
  } catch (thrown) {
    if (signal.aborted) return "gone";
    throw thrown;
  }
}

/** Providers send a keep-alive after the start; it is not counted among the events of a script. */
function* withPing(records: Iterable<string>, wire: Wire): Generator<string> {
  let sent = 0;
  for (const record of records) {
    sent += 1;
    yield sent === 1 ? record + wire.ping : record;
  }
}

async function writeAll(
  out: Writable,
  records: Iterable<string>,
  betweenMs: number,
  signal: AbortSignal,
): Promise<void> {
  let batch = "";
  for (const record of records) {
    batch += record;
    if (betweenMs === 0 && batch.length < batchCharacters) continue;
    await write(out, batch, signal);
    batch = "";
    if (betweenMs > 0) await sleep(betweenMs, undefined, { signal });
  }
  if (batch !== "") await write(out, batch, signal);
}

async function stall(
  out: Writable,
  wire: Wire,
  fault: { with: "silence" | "pings"; pingEveryMs?: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    if (fault.with === "pings") await write(out, wire.ping, signal);
    await sleep(fault.pingEveryMs ?? defaultPingEveryMs, undefined, { signal });
  }
}

/** Resolves when the reader has room again: a slow reader slows the script down instead of filling memory. */
async function write(out: Writable, text: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!out.write(text)) await once(out, "drain", { signal });
}
