/**
 * `keel --input-format stream-json`: Keel as the executable of an SDK. Lines in, lines out: prompts and control requests
 * arrive, messages and answers leave, and what a program would answer by a callback is asked over the same wire. It is
 * `query()` with the callbacks at the other end.
 */

import { usage } from "../../app/flags/arguments.ts";
import { sayPassedOver } from "../../app/flags/foreign-flags.ts";
import { exitCodes } from "../../kernel/faults.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { type ReceivedFrame, readFrame } from "../../sdk/control/frames.ts";
import { type LineRead, lineReader } from "../../transport/lines.ts";
import { parseJsonLine } from "../../transport/strict-json.ts";
import type { Context } from "../cli/context.ts";
import { showFault } from "../cli/print/outcome.ts";
import { exitCodeOf, untilStopped } from "../cli/signals.ts";
import { WireHost } from "./host.ts";
import { readWireArguments } from "./options.ts";
import { WireOutput } from "./output.ts";

export async function streamJson(given: readonly string[], context: Context): Promise<number> {
  const { values, passedOver } = readWireArguments(given);
  if (values["output-format"] !== "stream-json")
    throw usage("--input-format stream-json needs --output-format stream-json.");
  if (passedOver.length > 0) context.err.line(sayPassedOver(passedOver));
  // What a session needs is loaded while the first line is still on its way.
  void Promise.all([import("../../sdk/query/opened.ts"), import("../../app/open-session.ts")]);
  const output = new WireOutput(context.out);
  const host = new WireHost({ values, context, output });
  // The first Ctrl-C ends the turn and then the session, as wished; a termination ends it at once.
  const stopped = untilStopped(context, async (signal) => {
    if (signal !== "SIGINT") return exitCodeOf(signal);
    await host.interrupt();
    return exitCodes.ended;
  });
  try {
    void hear(host, output, context);
    const ended = await Promise.race([output.over, stopped.code]);
    await host.finish();
    if (typeof ended === "number") return ended;
    if (ended) showFault(context.err, ended);
    // What a result has said already is a turn that failed, as for the interface.
    return output.lastFailed ? exitCodes.turnFailed : (ended?.exitCode ?? exitCodes.ended);
  } finally {
    stopped.release();
  }
}

async function hear(host: WireHost, output: WireOutput, { input }: Context): Promise<void> {
  for await (const frames of framesFrom(input, () =>
    Promise.all([output.room(), host.room()]).then(() => undefined),
  ))
    for (const frame of frames) host.take(frame);
  await host.endOfInput();
}

/** The longest prompt that `keel -p` takes, with some images beside it; a longer line is skipped, not kept. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Lines as frames, one fault for each bad line. Ends with the input; a broken input is an ended one. `room` is awaited
 * before more is read.
 */
async function* framesFrom(
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
