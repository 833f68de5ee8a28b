/** A transcript without what a screen is done with. */
import type { KeyedList } from "../kernel/keyed-list.ts";
import type { RowGroup } from "./row-group.ts";
import type { Row } from "./rows.ts";
import { askAlias, type KeyedTranscript } from "./transcript.ts";

/**
 * Without a row of the session itself, and without all that stands below it where it is an agent's: for screens that
 * keep only what still changes. What later events say of it is then passed over.
 */
export function withoutRow(transcript: KeyedTranscript, key: string): KeyedTranscript {
  const row = transcript.own.rows.get(key);
  if (!row) return transcript;
  const { own } = transcript;
  const agents = row.kind === "agent" ? withoutAgents(transcript.agents, key) : transcript.agents;
  const aliases = aliasesOf(row).reduce(
    (left, alias) => (left.get(alias)?.key === key ? left.remove(alias) : left),
    own.aliases,
  );
  const live = own.live.includes(key) ? own.live.filter((one) => one !== key) : own.live;
  return { own: { ...own, rows: own.rows.remove(key), aliases, live }, agents };
}

function withoutAgents(agents: KeyedList<RowGroup>, key: string): KeyedList<RowGroup> {
  const below = agents.toArray().filter(({ above }) => above === key);
  return below.reduce((left, { id }) => withoutAgents(left, id), agents).remove(key);
}

function aliasesOf(row: Row): string[] {
  if (row.kind === "tool") return [`call:${row.callId}`];
  if (row.kind === "ask") return [askAlias(row.ask.id, row.ask.origin)];
  return row.kind === "task" ? [`task-of:${row.data.callId}`] : [];
}
