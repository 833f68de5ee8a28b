/** `keel trace`: a session as a line of time, as one page, or as OpenTelemetry has it. Nothing runs. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { oneWord, usage } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { sendTrace, writeTrace } from "../../../app/time/trace-session.ts";
import type { CommandRun } from "../command.ts";

type TraceValues = {
  output: string | undefined;
  otlp: boolean;
  send: string | undefined;
  names: string | undefined;
  contents: boolean;
};

export const trace: CommandRun<TraceValues> = async ({ values, positionals }, context) => {
  const id = oneWord(positionals, "Name a session by its id.");
  if (values.otlp && values.send !== undefined) throw usage("Name one of --otlp and --send.");
  if (values.contents && !values.otlp && values.send === undefined)
    throw usage("--contents is for --otlp and --send: the page shows none.");
  const place = { ...context, sessions: openHome(context).sessions };
  const wish = { id, version: context.version, names: values.names, contents: values.contents };
  if (values.send !== undefined)
    return context.err.line(`Sent ${await sendTrace(place, wish, values.send)} spans.`);
  const text = await writeTrace(place, wish, values.otlp ? "otlp" : "page");
  if (values.output === undefined) return void context.out.write(text);
  await writeFile(path.resolve(context.cwd, values.output), text);
};
