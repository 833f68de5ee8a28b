/** Lines from an SDK as frames: bounded, strict, one fault for each bad line, and no faster than they are handled. */
import type { JsonObject } from "../../kernel/json.ts";
import { type ReceivedFrame, readFrame } from "../../sdk/control/frames.ts";
import { type LineRead, lineReader } from "../../transport/lines.ts";
import { parseJsonLine } from "../../transport/strict-json.ts";
import type { Context } from "../cli/context.ts";

/** The longest prompt that `keel -p` takes, with some images beside it; a longer line is skipped, not kept. */
const maxBytes = 16 * 1024 * 1024;

/** Ends with the input. A broken input is an ended one. `room` is awaited before more is read. */
export async function* framesFrom(
  input: Context["input"],
  room: () => Promise<void>,
): AsyncGenerator<ReceivedFrame[], void> {
  const reader = lineReader({ maxBytes });
  try {
    for await (const chunk of input as AsyncIterable<Uint8Array>) {
      yield reader.push(chunk).flatMap(frameOf);
      giveBack(chunk);
      await room();
    }
  } catch {
    return; // The descriptor broke: nothing more can come.
  }
  yield reader.end().flatMap(frameOf);
}

/**
 * The lines have been copied out of it. Its memory lies outside of the heap, where the collector lets some 64 MB pile up
 * before it looks: a flood would take that much for nothing.
 */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

function frameOf(read: LineRead): ReceivedFrame[] {
  if (!read.ok) return [{ kind: "bad", fault: read.fault }];
  if (read.line.trim() === "") return [];
  const parsed = parseJsonLine(read.line);
  return [parsed.ok ? readFrame(parsed.value satisfies JsonObject) : { kind: "bad", fault: parsed.error }];
}
