/** Lines from an SDK as frames: bounded, strict, one fault for each bad line, and no faster than they are handled. */
import type { JsonObject } from "../../kernel/json.ts";
import { type Frame, readFrame } from "../../sdk/control/frames.ts";
import { type LineRead, lineReader } from "../../transport/lines.ts";
import { parseJsonLine } from "../../transport/strict-json.ts";
import type { Context } from "./context.ts";

/** As much as a provider takes in one request, images included; a longer line is skipped, not kept. */
const mostBytes = 16 * 1024 * 1024;

/** Ends with the input. A broken input is an ended one. `room` is awaited before more is read. */
export async function* framesFrom(
  input: Context["input"],
  room: () => Promise<void>,
): AsyncGenerator<Frame[], void> {
  const reader = lineReader({ mostBytes });
  try {
    for await (const chunk of input) {
      yield reader.push(Buffer.from(chunk)).flatMap(frameOf);
      await room();
    }
  } catch {
    return; // The descriptor broke: nothing more can come.
  }
  yield reader.end().flatMap(frameOf);
}

function frameOf(read: LineRead): Frame[] {
  if (!read.ok) return [{ kind: "bad", fault: read.fault }];
  if (read.line.trim() === "") return [];
  const parsed = parseJsonLine(read.line);
  return [parsed.ok ? readFrame(parsed.value satisfies JsonObject) : { kind: "bad", fault: parsed.error }];
}
