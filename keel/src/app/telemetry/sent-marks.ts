/**
 * What of a session a collector has, in a file of its own while there may be more: so that whoever starts next sends what
 * a killed process did not. Gone when all was sent and the session ended.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { parseJson } from "../../kernel/json.ts";

const marksSchema = z.object({
  /** What ended earlier was never to be sent. */
  since: z.number(),
  /** By log: the event up to which all was sent. */
  sent: z.record(z.string(), z.number()),
  /** Spans that were sent as lost: what is made of them later is not sent again. */
  lost: z.optional(z.array(z.string())),
});
export type SentMarks = z.infer<typeof marksSchema>;

const folderOf = (home: string): string => path.join(home, "telemetry");

const fileOf = (home: string, session: string): string => path.join(folderOf(home), `${session}.json`);

/** Undefined where there is none, or none that can be read. */
export async function readMarks(home: string, session: string): Promise<SentMarks | undefined> {
  const text = await readFile(fileOf(home, session), "utf8").catch(() => undefined);
  const parsed = marksSchema.safeParse(text === undefined ? undefined : parseJson(text));
  return parsed.success ? parsed.data : undefined;
}

/** On disk before anything can end that is to be sent. */
export async function beginMarks(home: string, session: string, marks: SentMarks): Promise<void> {
  await mkdir(folderOf(home), { recursive: true, mode: 0o700 });
  // What an earlier process left counts.
  await writeFile(fileOf(home, session), JSON.stringify(marks), { mode: 0o600, flag: "wx" }).catch(
    () => undefined,
  );
}

/** All or nothing. */
export async function writeMarks(home: string, session: string, marks: SentMarks): Promise<void> {
  const file = fileOf(home, session);
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(marks), { mode: 0o600 });
  await rename(draft, file);
}

export const dropMarks = (home: string, session: string): Promise<void> =>
  rm(fileOf(home, session), { force: true });

/** Sessions of which there may be more. */
export async function markedSessions(home: string): Promise<string[]> {
  const names = await readdir(folderOf(home)).catch(() => []);
  return names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
}
