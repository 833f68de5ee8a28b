/**
 * Takes a log from anywhere as a new session of a folder. It is read to its end and checked before anything is
 * written, and it appears under its name only when it is whole and on disk: a damaged log is refused, never repaired.
 */
import { fault } from "../kernel/fault.ts";
import { nodeFiles, type OpenFile } from "./files.ts";
import { copyLog } from "./fork.ts";
import { openForReading } from "./open-file.ts";
import { Places } from "./places.ts";
import { unreadable, unwritable } from "./reasons.ts";
import { readEvents } from "./records.ts";
import { sessionId } from "./session-id.ts";
import { type Survey, survey } from "./survey.ts";

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
}: Import): Promise<{ events: number }> {
  const files = nodeFiles();
  // The person named this path, so a link in it is meant; what it leads to must be a plain file.
  const from = await files.realPath(given).catch((thrown: unknown) => {
    throw unreadable(given, thrown);
  });
  const file = await openForReading(files, from, given);
  try {
    const found = await survey(file, { path: given, tornEnd: "told" });
    const origin = await check(file, found, given);
    try {
      const path = await new Places(home, files).newLog(sessionId(session), cwd);
      const to = { session: sessionId(session), path, cwd };
      const whole = { files, to, upTo: Number.POSITIVE_INFINITY, now };
      await copyLog({ ...whole, from: { session: origin, file, survey: found } });
    } catch (thrown) {
      throw unwritable(home, thrown);
    }
    return { events: found.entries.length };
  } finally {
    await file.close();
  }
}

/** Returns the session that the log was written by. */
async function check(file: OpenFile, { scan, entries, damage }: Survey, path: string): Promise<string> {
  const session = scan.header?.session ?? "";
  let first: string | undefined;
  for await (const event of readEvents({ file, entries, session, damage })) first ??= event.type;
  const damaged = damage.notices().find(({ level }) => level === "warning");
  if (damaged) throw fault("log_damaged", { path, reason: reasonIn(damaged.text) });
  if (first !== "session.opened")
    throw fault("log_damaged", { path, reason: "it does not begin with a session." });
  return session;
}

/** The notice is the same sentence with the path before and what became of the rest behind. */
const reasonIn = (text: string): string =>
  `${/ is damaged: (.*?)\. Everything else was read/s.exec(text)?.[1] ?? text}; nothing was imported.`;
