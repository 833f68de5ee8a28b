/** The sessions that are kept, for commands that list, show and move them. Nothing runs, and nothing is settled. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import { fault } from "../../kernel/fault.ts";
import { undisguised } from "../../kernel/text.ts";
import type { ListPage, LogNotice, SessionInfo, Store } from "../../ports/store.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";
import type { LeftOut } from "../../store/jsonl/import.ts";
import { encodeHeader, encodeRecord } from "../../store/jsonl/line.ts";
import type { LogKind, MovedSession, MoveWish } from "../../store/log-kind.ts";
import type { HomeResources } from "../compose/home-resources.ts";

export type StoredSession = SessionInfo;

export type Sessions = {
  /** Newest change first; of one folder, or of all. Those of agents only when their parent is named. */
  list(
    filter: ListPage & { cwd?: string | undefined; parent?: string | undefined },
  ): Promise<StoredSession[]>;
  /** What a listing would show of it. Undefined when there is none, in this folder if one is named. */
  find(id: string, place?: { cwd?: string | undefined }): Promise<StoredSession | undefined>;
  /** Throws `session_unknown`. `tell` hears of damage once, at the end. A negative `after`: so many of the last. */
  read(id: string, tell?: (notice: LogNotice) => void, after?: number): AsyncIterable<Durable>;
  /** The log's own lines, each with its checksum: what `importFile` takes. */
  exportLines(id: string, tell?: (notice: LogNotice) => void): AsyncIterable<Uint8Array>;
  /**
   * A log as a new session of a folder, or a transcript of the official interface as the session that it is, once. What
   * is neither whole nor a transcript is refused, and then nothing was written. `notices` says what it was allowed
   * elsewhere and is not here, and what could not be read.
   */
  importFile(
    file: string,
    place: { cwd: string; version: string },
  ): Promise<{ id: string; state: "new" | "there"; events: number; notices: readonly string[] }>;
  /** The transcripts in a folder and below; of every project when none is named. */
  transcripts(place: { folder?: string | undefined; env: EnvironmentVariables }): Promise<string[]>;
  /** With the contents of files that no other session keeps. Throws `session_busy` while it is open. */
  delete(id: string): Promise<void>;
  location(id: string): string | undefined;
  /** A copy up to and with an event, under a new id. Throws `session_unknown`. */
  fork(id: string, copy: { upTo?: number | undefined; title?: string | undefined }): Promise<string>;
  /** Changes what a session is found by. Throws `session_busy` while it is open. */
  label(id: string, patch: Pick<SettingsPatch, "title" | "tag" | "archived">): Promise<void>;
  /** Moves them to how they are to be kept from now on; those that are open, or cannot be moved, stay and are named. */
  move(wanted: MoveWish): AsyncIterable<MovedSession>;
  /** How new ones are kept. */
  kind(): Promise<LogKind>;
  /** Writes a log anew from its events, in place of an older one. */
  restore(id: string, log: { cwd: string; events: readonly Durable[] }): Promise<void>;
};

export function storedSessions(resources: HomeResources): Sessions {
  const { path: home, clock, ids, store } = resources;
  const nameOwner = async (thrown: unknown): Promise<never> =>
    (await import("./owners.ts")).nameOwner(store.leases, thrown);
  const label = async (id: string, patch: SettingsPatch): Promise<void> => {
    const { appendTo } = await import("./append-to.ts");
    await appendTo(store, id, { type: "settings.changed", patch, why: "host" }, clock.now());
  };
  return {
    list: (filter) => store.list(filter),
    find: async (id, { cwd: folder } = {}) => (await store.list({ only: id, cwd: folder }))[0],
    read: (id, tell, after = 0) => store.read(id, after, tell),
    exportLines: (id, tell) => exportLines(store, id, tell),
    async importFile(file, { cwd, version }) {
      const { isTranscript } = await import("../transcripts/index-transcript.ts");
      if (await isTranscript(file).catch(() => false)) {
        const { importTranscript } = await import("../transcripts/import-transcript.ts");
        return importTranscript(file, { ...resources, cwd, version });
      }
      const { importLog } = await import("../../store/jsonl/import.ts");
      const id = ids.uuid();
      const place = { home, session: id, cwd, now: clock.now(), files: resources.logs.fs };
      const { events, leftOut } = await importLog({ ...place, file });
      return { id, state: "new", events, notices: sayLeftOut(leftOut) };
    },
    async transcripts({ folder, env }) {
      const { transcriptProjects, transcriptsIn } = await import("../transcripts/places.ts");
      return transcriptsIn(folder ?? transcriptProjects(env));
    },
    async delete(id) {
      const own = await blobsOf(store, id);
      await store.delete(id).catch(nameOwner);
      await forgetConversation(home, id);
      const { ownTranscriptFolder } = await import("../transcripts/places.ts");
      await rm(ownTranscriptFolder(home, id), { recursive: true, force: true });
      await resources.dropMemory(id);
      const isOpen = (session: string): Promise<boolean> => store.leases.isHeld(session);
      await forgetBlobs({ store, home, now: clock.now }, { own, isOpen });
    },
    location: (id) => store.location(id),
    async fork(id, { upTo, title }) {
      const copy = ids.uuid();
      await store.fork(id, { id: copy, upTo });
      if (title !== undefined) await label(copy, { title });
      return copy;
    },
    label: (id, patch) => label(id, patch).catch(nameOwner),
    move: (wanted) => resources.logs.move(wanted, store.leases),
    kind: () => resources.logs.kind(),
    async restore(id, { cwd, events }) {
      if (store.location(id) !== undefined) await store.delete(id);
      const log = await store.create(id, { cwd });
      try {
        await log.append(events);
      } finally {
        await log.close();
      }
    },
  };
}

/** Also from the tables, which would have its words otherwise when its log is gone. */
async function forgetConversation(home: string, id: string): Promise<void> {
  const { conversationDatabase } = await import("../../store/sqlite/conversation-table.ts");
  if (!existsSync(conversationDatabase(home))) return;
  const { sqliteConversations } = await import("../../store/sqlite/conversations.ts");
  const cache = sqliteConversations({ home });
  await cache.delete(id).catch(() => undefined);
  cache.close();
}

async function* exportLines(
  store: Store,
  id: string,
  tell?: (notice: LogNotice) => void,
): AsyncGenerator<Uint8Array> {
  let begun = false;
  for await (const event of store.read(id, 0, tell)) {
    if (!begun) {
      const cwd = event.type === "session.opened" ? event.cwd : "";
      yield encodeHeader({ session: event.session, cwd, at: event.at });
      begun = true;
    }
    yield encodeRecord(event);
  }
  if (!begun)
    throw fault("log_damaged", {
      path: store.location(id) ?? id,
      reason: "it holds nothing that can be read.",
    });
}

/** Which contents a log names. Of a damaged log those that can be read. */
export async function blobsOf(store: Store, session: string): Promise<Set<string>> {
  const names = new Set<string>();
  try {
    for await (const event of store.read(session))
      if (event.type === "files.saved")
        for (const { blob } of event.files) if (blob !== null) names.add(blob);
  } catch {
    // What cannot be read names nothing; the quota takes care of what is left.
  }
  return names;
}

/**
 * `own` is what the deleted session named. What no session names is the stock that was taken before commands: it goes
 * too, unless another session is open, which may be about to name it.
 */
export async function forgetBlobs(
  { store, home, now }: { store: Store; home: string; now: () => number },
  { own, isOpen }: { own: ReadonlySet<string>; isOpen: (session: string) => Promise<boolean> },
): Promise<void> {
  const folder = path.join(home, "blobs");
  if (!existsSync(folder)) return;
  const others = (await store.list()).map(({ id }) => id);
  const named = new Set<string>();
  for (const id of others) for (const blob of await blobsOf(store, id)) named.add(blob);
  const isQuiet = !(await Promise.all(others.map(isOpen))).includes(true);
  const { openBlobs } = await import("../../workspace/checkpoints/blobs.ts");
  if (isQuiet) {
    const { snapshotFolder } = await import("../../workspace/checkpoints/snapshot-store.ts");
    await rm(snapshotFolder(home), { recursive: true, force: true });
  }
  await openBlobs({ folder, now }).drop((name) => !named.has(name) && (isQuiet || own.has(name)));
}

/** As many as a person reads. */
const maxNamed = 5;

/** What an imported session is not allowed any more: one sentence for each kind, none when nothing was left out. */
export function sayLeftOut({ rules, folders, answers, lifted }: LeftOut): string[] {
  return [
    ...(rules.length > 0 ? [`What was allowed there is asked about here; left out: ${named(rules)}.`] : []),
    ...(folders.length > 0 ? [`Folders that it had beside its own are left out: ${named(folders)}.`] : []),
    ...(answers > 0
      ? [`${count(answers, "call")} of its unfinished turn had been allowed; here that counts as refused.`]
      : []),
    ...(lifted > 0
      ? ["Rules that deny or ask were taken away in it; here they stay until you take them away."]
      : []),
  ];
}

function named(all: readonly string[]): string {
  const more = all.length - maxNamed;
  const shown = all.slice(0, maxNamed).map((text) => undisguised(text.slice(0, 100)));
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
