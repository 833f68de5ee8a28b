/** `keel blame`: which session made a line of a file, by the edits that its log has. Only logs and the file are read. */
import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { type BlamedLine, blameLine, editsOf, type RecordedEdit } from "../../time/blame/blame.ts";
import type { HomeConversations } from "../conversations/home-conversations.ts";
import type { Sessions } from "../sessions/sessions.ts";

export type BlamePlace = {
  readonly sessions: Sessions;
  conversations(): Promise<Pick<HomeConversations, "find">>;
};

/** More sessions than have touched one file. */
const maxSessions = 10_000;

/** Each line of the range. Throws `usage` for what is no line of a file. */
export async function blameFile(
  place: BlamePlace,
  { file, from, to }: { readonly file: string; readonly from: number; readonly to: number },
): Promise<(BlamedLine & { readonly line: number })[]> {
  const real = await realpath(file).catch(() => file);
  const content = await readFile(real, "utf8").catch(() => {
    throw fault("usage", { reason: `${file} cannot be read.` });
  });
  const edits = await editsEverywhere(place, [...new Set([path.resolve(file), real])]);
  const blamed: (BlamedLine & { readonly line: number })[] = [];
  for (let line = from; line <= to; line++) {
    const found = blameLine(content, line, edits);
    if (found) blamed.push({ ...found, line });
  }
  if (blamed.length === 0) throw fault("usage", { reason: `${file} has no line ${from}.` });
  return blamed;
}

/** Of all sessions that have touched it, and their agents, oldest first. */
async function editsEverywhere(
  { sessions, conversations }: BlamePlace,
  files: readonly string[],
): Promise<RecordedEdit[]> {
  const tables = await conversations();
  const edits = new Map<string, RecordedEdit>();
  const seen = new Set<string>();
  const look = async (id: string): Promise<void> => {
    if (seen.has(id)) return;
    seen.add(id);
    // What cannot be read says nothing.
    const events = await Array.fromAsync(sessions.read(id)).catch(() => []);
    for (const file of files)
      for (const edit of editsOf(events, file)) {
        // A copy of a session begins with what its origin did.
        const key = `${edit.callId} ${edit.at}`;
        const isCopy = events.some((event) => event.type === "session.opened" && event.forkedFrom);
        if (!edits.has(key) || !isCopy) edits.set(key, edit);
      }
    for (const agent of await sessions.list({ parent: id })) await look(agent.id);
  };
  for (const file of files)
    for (const { id } of await tables.find({ file, limit: maxSessions })) await look(id);
  return [...edits.values()].sort((one, other) => one.at - other.at || one.seq - other.seq);
}
