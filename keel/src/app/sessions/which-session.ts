/** Which session is opened: a new one, one that goes on, or a copy of one. */
import type { Session } from "../../engine/session.ts";
import { fault } from "../../kernel/fault.ts";
import { sameJson } from "../../kernel/json.ts";
import type { Ids } from "../../ports/clock.ts";
import type { Log, Store } from "../../ports/store.ts";
import type { Command } from "../../protocol/command.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { SettingsPatch } from "../../protocol/settings.ts";

export type SessionChoice =
  | { readonly kind: "new"; readonly id?: string | undefined }
  | { readonly kind: "resume"; readonly from: ResumeOrigin; readonly at?: FindMessage | undefined }
  /** Goes on in a copy; the origin stays as it is, and may be open elsewhere. */
  | {
      readonly kind: "fork";
      readonly from: ResumeOrigin;
      readonly id?: string | undefined;
      /** The last message that is copied; all when left out. */
      readonly at?: FindMessage | undefined;
    };

/** Finds the message from which a session goes on, as its host names messages. Throws where there is none. */
export type FindMessage = (log: AsyncIterable<Durable>, session: string) => Promise<MessagePlace>;
export type MessagePlace = Pick<Extract<Command, { type: "return" }>, "to" | "block">;

/** A session by its id, or the newest of the folder. */
export type ResumeOrigin = { readonly session: string } | "newest";

/** Where there is no newest session to go on with, one begins. */
export async function beginWhereNone(
  which: SessionChoice,
  { store, cwd }: { store: Store; cwd: string },
): Promise<SessionChoice> {
  if (which.kind === "new" || which.from !== "newest") return which;
  const newest = await newestId(store, cwd);
  if (newest === undefined) return { kind: "new", id: which.kind === "fork" ? which.id : undefined };
  return { ...which, from: { session: newest } };
}

type LogPlace = {
  readonly store: Store;
  readonly ids: Ids;
  readonly cwd: string;
  /** Makes a session of what the store does not know by this name: its id, or undefined where there is nothing. */
  takeOver?(named: string): Promise<string | undefined>;
};

/** Opens the log for writing. Throws `session_unknown`, `session_busy` or `session_invalid_id`. */
export async function openLog(
  which: SessionChoice,
  { takeOver = async () => undefined, ...place }: LogPlace,
): Promise<Log> {
  const { store, ids, cwd } = place;
  const origin = async (from: ResumeOrigin): Promise<string> => {
    const id = await originId(from, store, cwd);
    const isKnown = !id.endsWith(".jsonl") && store.location(id) !== undefined;
    return isKnown ? id : ((await takeOver(id)) ?? id);
  };
  switch (which.kind) {
    case "new":
      return store.create(which.id ?? ids.uuid(), { cwd });
    case "resume":
      return store.open(await origin(which.from));
    case "fork": {
      const id = which.id ?? ids.uuid();
      const from = await origin(which.from);
      const place = await which.at?.(store.read(from), from);
      await store.fork(from, { id, upTo: place?.to });
      return store.open(id);
    }
  }
}

async function originId(from: ResumeOrigin, store: Store, cwd: string): Promise<string> {
  const found = from === "newest" ? await newestId(store, cwd) : from.session;
  if (found === undefined) throw fault("session_unknown", { session: "none in this folder" });
  return found;
}

async function newestId(store: Store, cwd: string): Promise<string | undefined> {
  for (const limit of [1, undefined]) {
    // A sub-agent's session belongs to its parent: nobody goes on with it by accident.
    const newest = (await store.list({ cwd, limit })).find(({ parent }) => parent === undefined);
    if (newest) return newest.id;
  }
  return undefined;
}

/** A session that goes on keeps its settings, except for those that are named now; the mode is never inherited. */
export async function adjust(session: Session, wanted: SettingsPatch): Promise<void> {
  const now: SettingsPatch = session.state.settings ?? {};
  const names = ["model", "permissionMode", "thinking", "effort", "title", "goal"] as const;
  const changed = names.filter((name) => wanted[name] !== undefined && !sameJson(wanted[name], now[name]));
  if (changed.length === 0) return;
  await session.submit({
    type: "set",
    patch: Object.fromEntries(changed.map((name) => [name, wanted[name]])),
  });
}
