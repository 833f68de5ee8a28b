/** `keel replay`: kept sessions, or exported logs in a folder, through today's engine. Only logs are read. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { fault, reasonOf } from "../../kernel/fault.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { readLogFile } from "../../store/jsonl/log-file.ts";
import { replayLog } from "../../time/replay/replay.ts";
import type { Replayed } from "../../time/replay/replayed.ts";
import type { SettingsLocation } from "../maintenance/settings-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { type ReplayChange, replayWorld } from "./replay-world.ts";

export type ReplayWish = ReplayChange & {
  readonly from:
    | { readonly kind: "session"; readonly id: string; readonly to?: number | undefined }
    | { readonly kind: "folder"; readonly cwd?: string | undefined }
    /** Exported logs. */
    | { readonly kind: "files"; readonly folder: string };
};

/** `name`: the session, with that of its parent before it, or the file. `problems`: what is damaged in its log. */
export type ReplayedLog = Replayed & {
  readonly name: string;
  readonly ms: number;
  readonly problems: readonly string[];
};

type NamedLog = { readonly name: string; read(tell: (text: string) => void): Promise<readonly Durable[]> };

/** One after the other, so that one log is in memory at a time. Throws `session_unknown` and `usage`. */
export async function* replaySessions(
  place: SettingsLocation & { readonly sessions: Sessions; readonly nowMs: () => number },
  { from, ...change }: ReplayWish,
): AsyncGenerator<ReplayedLog> {
  const worldOf = await replayWorld(place, change);
  const to = from.kind === "session" ? from.to : undefined;
  for await (const { name, read } of logsOf(place.sessions, from)) {
    const problems: string[] = [];
    const startedAt = place.nowMs();
    try {
      const events = await read((text) => problems.push(text));
      const replayed = await replayLog(events, worldOf(events), { to });
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
    for (const name of names.filter((each) => each.endsWith(".jsonl")).sort())
      yield {
        name,
        read: (tell) => readLogFile(path.join(from.folder, name), ({ text }) => tell(text)),
      };
    return;
  }
  const listed =
    from.kind === "folder" ? await sessions.list({ cwd: from.cwd }) : [await found(sessions, from.id)];
  for (const { id } of listed) yield* withAgents(sessions, id, id);
}

async function found(sessions: Sessions, id: string): Promise<{ readonly id: string }> {
  const session = await sessions.find(id);
  if (!session) throw fault("session_unknown", { session: id });
  return session;
}

async function* withAgents(sessions: Sessions, id: string, name: string): AsyncGenerator<NamedLog> {
  yield { name, read: (tell) => Array.fromAsync(sessions.read(id, ({ text }) => tell(text))) };
  for (const agent of await sessions.list({ parent: id }))
    yield* withAgents(sessions, agent.id, `${name}/${agent.id}`);
}
