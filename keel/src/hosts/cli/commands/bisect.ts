/** `keel bisect`: with which message of a session something began to fail. */
import path from "node:path";
import { oneWord, usage, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import { type Bisected, bisectByCommand, bisectByEvents, stateFunction } from "../../../app/time/bisect.ts";
import { fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import type { Durable } from "../../../protocol/event/durable.ts";
import type { CommandRun } from "../command.ts";
import type { Context } from "../context.ts";

type BisectValues = {
  json: boolean;
  twice: boolean;
  text: string | undefined;
  state: string | undefined;
  timeout: string | undefined;
};

export const bisect: CommandRun<BisectValues> = async ({ values, positionals }, context) => {
  const [id = "", ...command] = positionals;
  oneWord(
    [id].filter((word) => word !== ""),
    "the id of a session",
  );
  const home = openHome(context);
  const stored = await home.sessions.find(id);
  if (!stored) throw fault("session_unknown", { session: id });
  const events = await Array.fromAsync(
    home.sessions.read(id, ({ text }) => context.err.line(`keel: ${visible(text)}`)),
  );
  const wishes = [command.length > 0, values.text !== undefined, values.state !== undefined];
  if (wishes.filter(Boolean).length !== 1)
    throw usage("Say what is wrong: a command behind --, --text or --state.");
  const found =
    command.length > 0
      ? await byCommand(command, { events, cwd: stored.cwd, home: home.path, values }, context)
      : await byLog(values, events, context);
  if (values.json) context.out.line(toLine(found));
  else for (const line of sayFound(found)) context.out.line(line);
  return found.found.kind === "unsure" ? exitCodes.turnFailed : exitCodes.ended;
};

async function byCommand(
  command: readonly string[],
  {
    events,
    cwd,
    home,
    values,
  }: { events: readonly Durable[]; cwd: string; home: string; values: BisectValues },
  { env, err, signals }: Context,
): Promise<Bisected> {
  const stop = new AbortController();
  // The copy has to be gone before the process is.
  const release = signals.take(() => stop.abort());
  try {
    return await bisectByCommand(events, {
      // A single word is a line for the shell; several are a program with its arguments.
      command: command.length === 1 ? (command[0] ?? "") : command.map(quoted).join(" "),
      cwd,
      blobs: path.join(home, "blobs"),
      env,
      twice: values.twice,
      signal: stop.signal,
      timeoutMs: (wholeNumber("timeout", values.timeout, 1) ?? 600) * 1000,
      tell: (text) => err.line(visible(text)),
    });
  } finally {
    release();
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

async function byLog(
  { text, state: file }: BisectValues,
  events: readonly Durable[],
  { cwd }: Context,
): Promise<Bisected> {
  if (text !== undefined)
    return bisectByEvents(events, (upTo) => upTo.some((event) => JSON.stringify(event).includes(text)));
  const holds = await stateFunction(path.resolve(cwd, file ?? ""));
  return bisectByEvents(events, (_, state) => holds(state()));
}

function sayFound({ found, points, looks, lost }: Bisected): string[] {
  const end = [
    `${looks} looks at ${points} moments.`,
    ...lost.map((file) => `Cannot be had back as it was: ${visible(file)}`),
  ];
  switch (found.kind) {
    case "never":
      return ["It does not fail at the end of the session.", ...end];
    case "start":
      return ["It failed before the first message.", ...end];
    case "unsure":
      return ["It does not say the same twice at the same moment: nothing can be found by it.", ...end];
    case "found":
      return [
        `event ${found.seq}${found.said === undefined ? "" : `, message ${found.message}: ${visible(found.said)}`}`,
        ...(found.callId === undefined
          ? []
          : [`call ${found.callId}${found.tool ? ` of ${found.tool}` : ""}`]),
        ...(found.calls ?? []).map(({ callId, tool }) => `one of its calls: ${callId} of ${tool}`),
        ...(found.diff ? [visible(found.diff)] : []),
        ...end,
      ];
  }
}
