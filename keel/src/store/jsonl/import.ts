/**
 * Takes a log from anywhere as a new session of a folder. It is read to its end and checked before anything is
 * written, and it appears under its name only when it is whole and on disk: a damaged log is refused, never repaired.
 *
 * A log from elsewhere is somebody else's word. What was allowed there is not allowed here: `import-rights.ts` says
 * what of it stays.
 */
import { fault } from "../../kernel/fault.ts";
import { nodeFiles, type OpenFile } from "./files.ts";
import { copyLog } from "./fork.ts";
import { type LeftOut, RightsFilter } from "./import-rights.ts";
import { LogLocations } from "./log-locations.ts";
import { sessionId } from "./names.ts";
import { openForReading, unreadable, unwritable } from "./reasons.ts";
import { readEvents } from "./records.ts";
import { type LogSurvey, survey } from "./survey.ts";

export type Import = {
  readonly home: string;
  /** Where the log stands now. */
  readonly file: string;
  /** The id of the new session, which nobody else has. */
  readonly session: string;
  readonly cwd: string;
  readonly now: number;
};

/** Throws `log_damaged`, `log_unreadable`, `log_too_new` or `log_unwritable`; nothing is then left behind. */
export async function importLog({
  home,
  file: given,
  session,
  cwd,
  now,
}: Import): Promise<{ events: number; leftOut: LeftOut }> {
  const files = nodeFiles();
  // The person named this path, so a link in it is meant; what it leads to must be a plain file.
  const from = await files.realPath(given).catch((thrown: unknown) => {
    throw unreadable(given, thrown);
  });
  await using file = await openForReading(files, from, given);
  const found = await survey(file, { path: given, tornEnd: "told" });
  const { origin, unfinishedFrom } = await check(file, found, given);
  const rights = new RightsFilter();
  try {
    const path = await new LogLocations(home, files).newLog(sessionId(session), { cwd });
    await copyLog({
      files,
      from: { session: origin, file, survey: found },
      to: { session: sessionId(session), path, cwd },
      upTo: Number.POSITIVE_INFINITY,
      now,
      change: (record, seq) => rights.change(record, seq > unfinishedFrom ? "unfinished" : "finished"),
    });
  } catch (thrown) {
    throw unwritable(home, thrown);
  }
  return { events: found.entries.length, leftOut: rights.leftOut() };
}

type CheckedLog = {
  /** The session that the log was written by. */
  readonly origin: string;
  /** Where a turn began that has no end; infinite when every turn has one. */
  readonly unfinishedFrom: number;
};

async function check(
  file: OpenFile,
  { scan, entries, damage }: LogSurvey,
  path: string,
): Promise<CheckedLog> {
  const origin = scan.header?.session ?? "";
  let first: string | undefined;
  let unfinishedFrom = Number.POSITIVE_INFINITY;
  for await (const events of readEvents({ file, entries, session: origin, damage }))
    for (const { type, seq } of events) {
      first ??= type;
      if (type === "turn.started") unfinishedFrom = seq;
      if (type === "turn.finished") unfinishedFrom = Number.POSITIVE_INFINITY;
    }
  const damaged = damage.notices().find(({ level }) => level === "warning");
  if (damaged) throw fault("log_damaged", { path, reason: reasonIn(damaged.text) });
  if (first !== "session.opened")
    throw fault("log_damaged", { path, reason: "it does not begin with a session; nothing was imported." });
  return { origin, unfinishedFrom };
}

/** The notice is the same sentence with the path before and what became of the rest behind. */
const reasonIn = (text: string): string =>
  `${/ is damaged: (.*?)\. Everything else was read/s.exec(text)?.[1] ?? text}; nothing was imported.`;
