/** Sessions that are kept: listed, read, labelled, copied and deleted without a model. Nothing runs. */
import type { Sessions, StoredSession } from "../../app/sessions/sessions.ts";
import { Fault, fault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import { projectKeyOf } from "../../kernel/path.ts";
import { homeOf } from "../query/homes.ts";
import type { SessionStore, SessionStoreEntry } from "./session-store.ts";

export type SDKSessionInfo = {
  sessionId: string;
  /** The title, or the start of the first prompt. */
  summary: string;
  lastModified: number;
  fileSize?: number;
  customTitle?: string;
  firstPrompt?: string;
  cwd?: string;
  tag?: string;
  createdAt?: number;
  archived?: boolean;
  gitBranch?: string;
};

export type SessionMessage = {
  type: "user" | "assistant" | "system";
  uuid: string;
  session_id: string;
  message: unknown;
  parent_tool_use_id: string | null;
  parent_agent_id: string | null;
  timestamp?: string;
};

/** `dir`: the folder of the sessions; `sessionStore`: where they are looked for too. */
export type SessionPlace = { dir?: string; sessionStore?: SessionStore };

export type SessionMutationOptions = SessionPlace;
export type GetSessionInfoOptions = SessionPlace;
export type ListSubagentsOptions = SessionPlace;
export type GetSubagentMessagesOptions = SessionPlace & { limit?: number; offset?: number };
export type GetSessionMessagesOptions = GetSubagentMessagesOptions & { includeSystemMessages?: boolean };
export type ForkSessionOptions = SessionPlace & { upToMessageId?: string; title?: string };
export type ForkSessionResult = { sessionId: string };
export type ImportSessionToStoreOptions = { dir?: string; includeSubagents?: boolean; batchSize?: number };

/** `includeWorktrees`, `includeProgrammatic`: sessions are listed however they were started. */
export type ListSessionsOptions = SessionPlace & {
  limit?: number;
  offset?: number;
  includeWorktrees?: boolean;
  includeProgrammatic?: boolean;
};

/** The newest first. Those that only the store knows are listed with what it says about them. */
export async function listSessions({
  dir,
  limit,
  offset = 0,
  sessionStore,
}: ListSessionsOptions = {}): Promise<SDKSessionInfo[]> {
  const sessions = await sessionsAt(dir);
  const most = endOf(offset, limit);
  if (!sessionStore) {
    const page = await sessions.list({ cwd: dir, skip: offset, limit: most && most - offset });
    if (page.every(isOwn)) return page.map(infoOf);
  }
  // What a store has may stand anywhere among them.
  const here = (await sessions.list({ cwd: dir })).filter(isOwn).map(infoOf);
  const known = new Set(here.map(({ sessionId }) => sessionId));
  const away = (await sessionStore?.listSessions?.(projectKeyOf(dir ?? process.cwd()))) ?? [];
  const others = away
    .filter(({ sessionId }) => !known.has(sessionId))
    .map(({ sessionId, mtime }): SDKSessionInfo => ({ sessionId, summary: "", lastModified: mtime }));
  const all = [...here, ...others].sort((left, right) => right.lastModified - left.lastModified);
  return all.slice(offset, most);
}

/** A sub-agent's session belongs to its parent. */
const isOwn = ({ parent }: StoredSession): boolean => parent === undefined;

export async function getSessionInfo(
  sessionId: string,
  { dir, sessionStore }: SessionPlace = {},
): Promise<SDKSessionInfo | undefined> {
  const session = await (await sessionsAt(dir)).find(sessionId, { cwd: dir });
  if (session || !sessionStore) return session && infoOf(session);
  const place = { ...(dir === undefined ? {} : { dir }), sessionStore };
  return (await listSessions(place)).find((known) => known.sessionId === sessionId);
}

/** The ids of the agents that worked for a session; none for one that nobody knows. */
export async function listSubagents(sessionId: string, { dir }: SessionPlace = {}): Promise<string[]> {
  const sessions = await sessionsAt(dir);
  const children = await orNone(() => sessions.list({ parent: sessionId }));
  return children.map(({ id }) => id);
}

/** None for an agent that did not work for this session. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: GetSessionMessagesOptions = {},
): Promise<SessionMessage[]> {
  const known = await listSubagents(sessionId, options);
  return known.includes(agentId) ? getSessionMessages(agentId, options) : [];
}

/** Copies a session into a store, several records at once. Throws `session_unknown`. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  { dir, batchSize = 500 }: ImportSessionToStoreOptions = {},
): Promise<void> {
  const { entryOf } = await import("./mirror.ts");
  const sessions = await sessionsAt(dir);
  const cwd = dir ?? process.cwd();
  const key = { projectKey: projectKeyOf(cwd), sessionId };
  let batch: SessionStoreEntry[] = [];
  for await (const event of sessions.read(sessionId)) {
    batch.push(entryOf(event));
    if (batch.length < batchSize) continue;
    await store.append(key, batch);
    batch = [];
  }
  if (batch.length > 0) await store.append(key, batch);
}

/** None for a session that nobody knows. */
export async function getSessionMessages(
  sessionId: string,
  { limit, offset = 0, includeSystemMessages = false, ...place }: GetSessionMessagesOptions = {},
): Promise<SessionMessage[]> {
  const messages: SessionMessage[] = [];
  const stored = await orNone(async () => {
    const { storedMessages } = await import("./stored-messages.ts");
    const sessions = await found(sessionId, place);
    return storedMessages(sessions.read(sessionId), sessionId);
  });
  for (const { at, message } of stored) {
    const { type } = message;
    const isWanted = type === "user" || type === "assistant" || (type === "system" && includeSystemMessages);
    if (!isWanted) continue;
    messages.push({
      type,
      uuid: message.uuid ?? "",
      session_id: sessionId,
      message: type === "system" ? message : message.message,
      parent_tool_use_id: type === "system" ? null : message.parent_tool_use_id,
      parent_agent_id: null,
      timestamp: new Date(at).toISOString(),
    });
  }
  return messages.slice(offset, endOf(offset, limit));
}

export async function renameSession(
  sessionId: string,
  title: string,
  place: SessionPlace = {},
): Promise<void> {
  if (title.trim() === "") throw fault("usage", { reason: "A title must not be empty." });
  await (await sessionsAt(place.dir)).label(sessionId, { title: title.trim() });
}

/** Null takes the tag away. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  place: SessionPlace = {},
): Promise<void> {
  await (await sessionsAt(place.dir)).label(sessionId, { tag: tag?.trim() ?? "" });
}

export async function archiveSession(sessionId: string, place: SessionPlace = {}): Promise<void> {
  await (await sessionsAt(place.dir)).label(sessionId, { archived: true });
}

export async function unarchiveSession(sessionId: string, place: SessionPlace = {}): Promise<void> {
  await (await sessionsAt(place.dir)).label(sessionId, { archived: false });
}

export async function deleteSession(sessionId: string, place: SessionPlace = {}): Promise<void> {
  await (await sessionsAt(place.dir)).delete(sessionId);
  await place.sessionStore?.delete?.({ projectKey: projectKeyOf(place.dir ?? process.cwd()), sessionId });
}

/** A copy under a new id, up to and with a message. Throws `session_unknown`, or `usage` for an unknown message. */
export async function forkSession(
  sessionId: string,
  { upToMessageId, title, ...place }: ForkSessionOptions = {},
): Promise<ForkSessionResult> {
  const { placeOfMessage } = await import("./stored-messages.ts");
  const sessions = await found(sessionId, place);
  const named = title ?? copyOf((await sessions.find(sessionId, { cwd: place.dir }))?.title);
  if (upToMessageId === undefined) return { sessionId: await sessions.fork(sessionId, { title: named }) };
  const message = await placeOfMessage(sessions.read(sessionId), { sessionId, uuid: upToMessageId });
  if (!message) throw fault("usage", { reason: `The session has no message ${upToMessageId}.` });
  return { sessionId: await sessions.fork(sessionId, { upTo: message.to, title: named }) };
}

/** Two sessions of one name could not be told apart. */
const copyOf = (title: string | undefined): string | undefined => title && `${title} (fork)`;

/** Whoever asks about a session that there is not, or by what is no id, learns that there is nothing. */
async function orNone<Item>(look: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await look();
  } catch (thrown) {
    const isNone = thrown instanceof Fault && ["session_unknown", "session_invalid_id"].includes(thrown.code);
    if (!isNone) throw thrown;
    return [];
  }
}

/** A limit of 0 is none. */
const endOf = (offset: number, limit: number | undefined): number | undefined =>
  limit === undefined || limit === 0 ? undefined : offset + limit;

/** Loaded when it is asked for: a program that only queries needs none of it. */
async function sessionsAt(dir: string | undefined): Promise<Sessions> {
  return (await homeOf({ env: process.env, cwd: dir ?? process.cwd() })).sessions;
}

async function found(sessionId: string, { dir, sessionStore }: SessionPlace): Promise<Sessions> {
  const sessions = await sessionsAt(dir);
  const cwd = dir ?? process.cwd();
  const key = { projectKey: projectKeyOf(cwd), sessionId };
  if (!sessionStore) return sessions;
  const { restoreFrom } = await import("./mirror.ts");
  await restoreFrom(sessionStore, { key, cwd, sessions });
  return sessions;
}

function infoOf(session: StoredSession): SDKSessionInfo {
  const { id, title, firstInput, cwd, branch, tag, archived, bytes, createdAt, changedAt } = session;
  return {
    sessionId: id,
    summary: title ?? firstInput ?? "",
    lastModified: changedAt,
    fileSize: bytes,
    createdAt,
    ...(cwd ? { cwd } : {}),
    ...present({ customTitle: title, firstPrompt: firstInput, tag, gitBranch: branch }),
    ...(archived ? { archived } : {}),
  };
}
