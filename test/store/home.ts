// A temporary home for stores, and short ways to fill and look at logs.
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Fault } from "../../keel/src/kernel/fault.ts";
import type { LogNotice, Store } from "../../keel/src/ports/store.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { calls, envelopes, ids, opened } from "../../keel/src/testing/store-suite-events.ts";

export const [session, otherSession] = ids;

export type Home = { readonly home: string; readonly cwd: string; remove(): Promise<void> };

export async function makeHome(): Promise<Home> {
  const base = await mkdtemp(path.join(tmpdir(), "keel-store-"));
  const cwd = path.join(base, "project");
  await mkdir(cwd);
  return { home: path.join(base, "home"), cwd, remove: () => rm(base, { recursive: true }) };
}

/** A log of `count` events, closed again. Returns where it stands and what is in it. */
export async function writeLog(
  store: Store,
  cwd: string,
  count: number,
): Promise<{ file: string; events: Durable[] }> {
  const events = envelopes(session, [opened(cwd), ...calls(count - 1)]);
  const log = await store.create(session, { cwd });
  await log.append(events);
  await log.close();
  return { file: store.location(session) ?? "", events };
}

export async function readAll(events: AsyncIterable<Durable>): Promise<Durable[]> {
  const found: Durable[] = [];
  for await (const event of events) found.push(event);
  return found;
}

export const seqs = (events: readonly Durable[]): number[] => events.map(({ seq }) => seq);

export const warnings = (notices: readonly LogNotice[]): string[] =>
  notices.flatMap(({ level, text }) => (level === "warning" ? [text] : []));

/** The copies that were kept beside a log. */
export async function copiesOf(file: string): Promise<Buffer[]> {
  const names = (await readdir(path.dirname(file))).filter((name) => name.includes(".damaged-")).sort();
  return Promise.all(names.map((name) => readFile(path.join(path.dirname(file), name))));
}

/** What the session's log holds, read without a lease; nothing when there is none. */
export async function foundIn(target: Store): Promise<Durable[]> {
  if (!target.location(session)) return [];
  return readAll(target.read(session));
}

/** The fault that the work ends with; a test that expects one fails on its code when nothing failed. */
export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await work;
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  return new Fault("unexpected", "nothing failed", {}, undefined);
}
