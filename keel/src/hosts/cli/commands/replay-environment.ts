/** `keel replay --environment`: the calls of a recorded session once more, in a copy of its folder. */
import path from "node:path";
import { oneOf, oneWord, wholeNumber } from "../../../app/flags/arguments.ts";
import { openHome } from "../../../app/home.ts";
import type { Sessions } from "../../../app/sessions/sessions.ts";
import {
  type EnvironmentReplay,
  type EnvironmentWish,
  replayEnvironment,
} from "../../../app/time/environment.ts";
import { isFileName, logsWithAgents, openReplay } from "../../../app/time/replay-sessions.ts";
import { fault } from "../../../kernel/fault.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { toLine } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { permissionModes } from "../../../protocol/settings.ts";
import type { Context } from "../context.ts";

type EnvironmentValues = {
  json: boolean;
  "as-answered": boolean;
  "permission-mode": string | undefined;
  timeout: string | undefined;
};

export async function replayInFolder(
  { values, positionals }: { readonly values: EnvironmentValues; readonly positionals: readonly string[] },
  context: Context,
): Promise<number> {
  const named = oneWord(positionals, "Name a session by its id, or an exported one by its file.");
  const home = openHome(context);
  const recorded = isFileName(named)
    ? await inFile(path.resolve(context.cwd, named), context)
    : await keptHere(home.sessions, named, context);
  const stop = new AbortController();
  // The copy has to be gone before the process is.
  const release = context.signals.take(() => stop.abort());
  try {
    const replayed = await replayEnvironment(
      { env: context.env, cwd: recorded.cwd, home: home.path, version: context.version },
      {
        ...recorded,
        mode: oneOf("permission-mode", values["permission-mode"], modes) ?? "acceptEdits",
        asked: values["as-answered"] ? "as then" : "refused",
        timeoutMs: (wholeNumber("timeout", values.timeout, 1) ?? 600) * 1000,
        signal: stop.signal,
      },
    );
    if (values.json) context.out.line(toLine(replayed));
    else for (const line of sayReplay(replayed)) context.out.line(line);
    return replayed.difference || replayed.stopped ? exitCodes.turnFailed : exitCodes.ended;
  } finally {
    release();
  }
}

const modes = permissionModes.filter((mode) => mode !== "bypassPermissions");

type RecordedHere = Pick<EnvironmentWish, "logs" | "cwd" | "blobs">;

/** A session that somebody exported runs in the folder in which the command stands. */
async function inFile(file: string, { cwd }: Context): Promise<RecordedHere> {
  const { logs, blobs } = await openReplay(file);
  return { logs: logs.map(({ events }) => events), blobs, cwd };
}

async function keptHere(sessions: Sessions, id: string, { err }: Context): Promise<RecordedHere> {
  const stored = await sessions.find(id);
  if (!stored) throw fault("session_unknown", { session: id });
  const tell = (text: string): void => err.line(`keel: ${visible(text)}`);
  const logs = await Array.fromAsync(logsWithAgents(sessions, stored.id, tell));
  return { logs: logs.map(({ events }) => events), cwd: stored.cwd };
}

function sayReplay(replayed: EnvironmentReplay): string[] {
  const { session, equalCalls, replies, difference, notRun, unreached, lost, stopped } = replayed;
  const isEqual = difference === undefined && stopped === undefined;
  return [
    `${isEqual ? "equal" : "differs"}  ${visible(session)}  ${equalCalls} calls said the same, ${replies} replies`,
    ...(difference ? sayDifference(replayed, difference) : []),
    ...(stopped ? ["  stopped: the time was up"] : []),
    ...(notRun.length > 0 ? ["  not run, so that what they did then is missing:"] : []),
    ...notRun.map(({ seq, tool, why }) => `    event ${seq}, ${visible(tool)}: ${oneLine(why)}`),
    ...(unreached > 0 ? [`  ${unreached} calls were not come to`] : []),
    ...lost.map((file) => `  cannot be had back as it was: ${visible(file)}`),
  ];
}

function sayDifference(
  { session: main }: EnvironmentReplay,
  difference: NonNullable<EnvironmentReplay["difference"]>,
): string[] {
  const { session, callId, tool, input, seq, what, recorded, today } = difference;
  const whose = session === main ? "" : ` of agent ${visible(session)}`;
  return [
    `  at event ${seq}${whose}, call ${visible(callId)}: ${visible(tool)} ${oneLine(input.slice(0, 200))}`,
    `  ${what}`,
    `    recorded: ${oneLine(recorded)}`,
    `    today:    ${oneLine(today)}`,
  ];
}

const oneLine = (text: string): string => visible(text).replaceAll("\n", "⟨line break⟩");
