/**
 * `keel --input-format stream-json`: Keel as the executable of an SDK. Lines in, lines out: prompts and control requests
 * arrive, messages and answers leave, and what a program would answer by a callback is asked over the same wire. It is
 * `query()` with the callbacks at the other end.
 */
import { exitCodes } from "../../kernel/faults.ts";
import { usage } from "../cli/arguments.ts";
import type { Context } from "../cli/context.ts";
import { showFault } from "../cli/show-fault.ts";
import { type EndingSignal, exitCodeOf } from "../cli/signals.ts";
import { WireHost } from "./host.ts";
import { framesFrom } from "./lines.ts";
import { readWireArguments } from "./options.ts";
import { WireOutput } from "./output.ts";

export async function streamJson(given: readonly string[], context: Context): Promise<number> {
  const { values, passedOver } = readWireArguments(given);
  if (values["output-format"] !== "stream-json")
    throw usage("--input-format stream-json needs --output-format stream-json.");
  if (passedOver.length > 0)
    context.err.line(`keel: without effect in this version: ${passedOver.join(", ")}`);
  // What a session needs is loaded while the first line is still on its way.
  void import("../../sdk/query/opened.ts");
  const output = new WireOutput(context.out);
  const host = new WireHost({ values, context, output });
  const stopped = untilStopped(host, context);
  try {
    void hear(host, output, context);
    const ended = await Promise.race([output.over, stopped.code]);
    await host.finish();
    if (typeof ended === "number") return ended;
    if (ended) showFault(context.err, ended);
    if (ended) return ended.exitCode;
    return output.lastFailed ? exitCodes.turnFailed : exitCodes.ended;
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

/** The first Ctrl-C ends the turn and then the session, as wished; a termination ends it at once. */
function untilStopped(host: WireHost, { signals, out }: Context): { code: Promise<number>; release(): void } {
  const { promise, resolve } = Promise.withResolvers<number>();
  let ending = false;
  const release = signals.take((signal: EndingSignal) => {
    if (ending) process.exit(exitCodeOf(signal));
    ending = true;
    if (signal === "SIGINT") void host.interrupt().then(() => resolve(exitCodes.ended));
    else resolve(exitCodeOf(signal));
  });
  void out.closed.then(() => resolve(exitCodes.outputClosed));
  const stopWatching = out.watch();
  return {
    code: promise,
    release() {
      stopWatching();
      release();
    },
  };
}
