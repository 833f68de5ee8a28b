/**
 * `keel model-server`: a model over HTTP for tests. It follows a script, plays a recording, or makes one while it passes
 * requests on. Serves until it is stopped or its input ends.
 */

import { usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { toFault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { visible } from "../../../kernel/text.ts";
import type { CommandRun } from "../command.ts";

type Name = "script" | "requests" | "replay" | "record" | "upstream" | "port";
type ModelServerValues = { readonly [name in Name]?: string | undefined };

/** A recording that was asked for what it does not hold ends badly, and says all of it. */
export const modelServer: CommandRun<ModelServerValues> = async ({ values }, context) => {
  const serve = await serverFor(values, {
    port: wholeNumber("port", values.port, 0),
    write: (text) => context.out.write(text),
  });
  // The server listens for the signals itself.
  const release = context.signals.take(() => undefined);
  try {
    await serve();
    return exitCodes.ended;
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.code !== "not_recorded") throw fault;
    // Whole and line by line: whoever reads it compares what was asked with what was recorded.
    for (const line of `keel: ${fault.message}\n${fault.hint}`.split("\n")) context.err.line(visible(line));
    return fault.exitCode;
  } finally {
    release();
  }
};

type ModelServerContext = { readonly port: number | undefined; readonly write: (text: string) => void };

async function serverFor(
  values: ModelServerValues,
  common: ModelServerContext,
): Promise<() => Promise<void>> {
  const { script, requests, replay, record, upstream } = values;
  const given = [script, replay, record].filter((file) => file !== undefined);
  if (given.length !== 1)
    throw usage("The model server needs one of --script FILE, --replay FILE and --record FILE.");
  if (requests !== undefined && script === undefined) throw usage("--requests goes with --script.");
  if ((record === undefined) !== (upstream === undefined))
    throw usage("--record FILE and --upstream URL go together.");
  const servers = await import("../../../testing/model-server-main.ts");
  if (script !== undefined)
    return () => servers.runModelServer({ ...common, scriptFile: script, requestsFile: requests });
  if (replay !== undefined) return () => servers.runReplayServer({ ...common, cassetteFile: replay });
  return () => servers.runRecordingProxy({ ...common, cassetteFile: record ?? "", upstream: upstream ?? "" });
}
