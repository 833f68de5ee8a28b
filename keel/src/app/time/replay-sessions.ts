/** `keel replay`: kept sessions, or exported logs in a folder, through today's engine. Only logs are read. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fault, reasonOf } from "../../kernel/fault.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { readLogFile } from "../../store/jsonl/log-file.ts";
import { replayLog } from "../../time/replay/replay.ts";
import type { Replayed } from "../../time/replay/replayed.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { type NamedEvents, type ReplayFile, readReplay } from "./replay-file.ts";
import { type ReplayChange, type ReplaySettings, replayWorld } from "./replay-world.ts";

export type ReplayWish = ReplayChange & {
  readonly from:
    | { readonly kind: "session"; readonly id: string; readonly to?: number | undefined }
    | { readonly kind: "folder"; readonly cwd?: string | undefined }
    /** Exported logs, and exported sessions with all that a replay needs. */
    | { readonly kind: "files"; readonly folder: string }
    | { readonly kind: "file"; readonly file: string; readonly to?: number | undefined };
};

/** `name`: the session, with that of its parent before it, or the file. `problems`: what is damaged in its log. */
export type ReplayedLog = Replayed & {
  readonly name: string;
  readonly ms: number;
  readonly problems: readonly string[];
};

type NamedLog = {
  readonly name: string;
  /** Of whoever exported it. */
  readonly settings?: ReplaySettings | undefined;
  read(tell: (text: string) => void): Promise<readonly Durable[]>;
};

/** Whether a word names a file: an id has neither. */
export const isFileName = (word: string): boolean => /[/\\]|\.(?:html|jsonl)$/.test(word);

/** One after the other, so that one log is in memory at a time. Throws `session_unknown` and `usage`. */
export async function* replaySessions(
  place: SettingsLocation & { readonly sessions: Sessions; readonly nowMs: () => number },
  { from, ...change }: ReplayWish,
): AsyncGenerator<ReplayedLog> {
  const worldOf = await replayWorld(place, change);
  const to = "to" in from ? from.to : undefined;
  for await (const { name, settings, read } of logsOf(place.sessions, from)) {
    const problems: string[] = [];
    const startedAt = place.nowMs();
    try {
      const events = await read((text) => problems.push(text));
      const ofLog = settings ? await replayWorld(place, change, settings) : worldOf;
      const replayed = await replayLog(events, ofLog(events), { to });
      yield { name, ms: Math.round(place.nowMs() - startedAt), problems, ...replayed };
    } catch (thrown) {
      yield { ...nothingReplayed, name, ms: 0, problems: [...problems, reasonOf(thrown)] };
    }
  }
}

const nothingReplayed: Replayed = {
  session: "",
  keel: "unknown",
  events: 0,
  requests: 0,
  equalRequests: 0,
  equalSteps: 0,
  difference: undefined,
  lacks: [],
  bill: { recordedUsd: 0, todayUsd: 0 },
};

async function* logsOf(sessions: Sessions, from: ReplayWish["from"]): AsyncGenerator<NamedLog> {
  if (from.kind === "files") {
    const names = await readdir(from.folder).catch((thrown: unknown) => {
      throw fault("usage", { reason: `${from.folder} cannot be read: ${reasonOf(thrown)}.` });
    });
    for (const name of names.filter((each) => /\.(?:jsonl|html)$/.test(each)).sort())
      yield* inFile(path.join(from.folder, name), name);
    return;
  }
  if (from.kind === "file") return yield* inFile(from.file, path.basename(from.file));
  const listed =
    from.kind === "folder" ? await sessions.list({ cwd: from.cwd }) : [await found(sessions, from.id)];
  for (const { id } of listed) yield* withAgents(sessions, id, id);
}

/** What is wrong with a file is told where it is read: others are read all the same. */
async function* inFile(file: string, name: string): AsyncGenerator<NamedLog> {
  if (!file.endsWith(".html"))
    return yield { name, read: (tell) => readLogFile(file, ({ text }) => tell(text)) };
  const kept = await openReplay(file).catch((thrown: unknown) => thrown);
  if (!isReplay(kept)) return yield { name, read: () => Promise.reject(kept) };
  for (const log of kept.logs)
    yield { name: `${name}/${log.name}`, settings: kept.settings, read: async () => log.events };
}

const isReplay = (kept: unknown): kept is ReplayFile => !(kept instanceof Error);

/** Throws `usage` and `log_unreadable`. */
export async function openReplay(file: string): Promise<ReplayFile> {
  const page = await readFile(file, "utf8").catch((thrown: unknown) => {
    throw fault("usage", { reason: `${file} cannot be read: ${reasonOf(thrown)}.` });
  });
  return readReplay(file, page);
}

async function found(sessions: Sessions, id: string): Promise<{ readonly id: string }> {
  const session = await sessions.find(id);
  if (!session) throw fault("session_unknown", { session: id });
  return session;
}

/** The session, then its agents, each behind its own. */
export async function* logsWithAgents(
  sessions: Sessions,
  id: string,
  tell: (text: string) => void,
): AsyncGenerator<NamedEvents> {
  for await (const { name, read } of withAgents(sessions, id, id)) yield { name, events: await read(tell) };
}

async function* withAgents(sessions: Sessions, id: string, name: string): AsyncGenerator<NamedLog> {
  yield { name, read: (tell) => Array.fromAsync(sessions.read(id, ({ text }) => tell(text))) };
  for (const agent of await sessions.list({ parent: id }))
    yield* withAgents(sessions, agent.id, `${name}/${agent.id}`);
}
