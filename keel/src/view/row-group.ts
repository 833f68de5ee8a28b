/** The rows of one conversation, the session's own or an agent's: how they come, change and go, and how a reply is written. */
import { KeyedList } from "../kernel/keyed-list.ts";
import { never } from "../kernel/result.ts";
import type { ReplyEvent } from "../protocol/event/live.ts";
import type { Block } from "../protocol/message.ts";
import type { Row, SaidNotice, ToolRow } from "./rows.ts";

export type RowGroup = {
  /** The key of the agent whose rows these are; empty for the session itself. */
  readonly id: string;
  /** The group in which the agent's own row stands. */
  readonly above: string;
  /** What the keys of these rows begin with. */
  readonly prefix: string;
  readonly rows: KeyedList<Row>;
  /** Calls and asks by the names that later events use for them. */
  readonly aliases: KeyedList<{ readonly id: string; readonly key: string }>;
  /** The keys of what is still being written. */
  readonly live: readonly string[];
  /** Notices so far: no log counts them. */
  readonly notices: number;
};

export const newGroup = (about: Pick<RowGroup, "id" | "above" | "prefix">): RowGroup => ({
  ...about,
  rows: KeyedList.empty(),
  aliases: KeyedList.empty(),
  live: [],
  notices: 0,
});

/** At the end, also where the key had another place before. */
export function append(group: RowGroup, row: Row, alias?: string): RowGroup {
  const rows = group.rows.remove(row.id).put(row);
  return alias === undefined
    ? { ...group, rows }
    : { ...group, rows, aliases: group.aliases.put({ id: alias, key: row.id }) };
}

/** The same group where there is no such row, or it stays as it is. */
export function change(
  group: RowGroup,
  key: string | undefined,
  how: (row: Row) => Row | undefined,
): RowGroup {
  const row = key === undefined ? undefined : group.rows.get(key);
  const next = row && how(row);
  return next && next !== row ? { ...group, rows: group.rows.put(next) } : group;
}

export const changeCall = (
  group: RowGroup,
  callId: string | undefined,
  how: (row: ToolRow) => ToolRow,
): RowGroup =>
  change(group, group.aliases.get(`call:${callId}`)?.key, (row) => (row.kind === "tool" ? how(row) : row));

/** A block of a reply, at the end. Not every block has a form on a screen. */
export function appendBlock(
  group: RowGroup,
  block: Block,
  about: { requestId: string; index: number; at: number; live: boolean },
): RowGroup {
  const { index, ...base } = about;
  const row = rowOfBlock(block, { ...base, id: blockKey(group, about) });
  if (!row) return group;
  const next = append(group, row, row.kind === "tool" ? `call:${row.callId}` : undefined);
  return about.live ? { ...next, live: [...group.live, row.id] } : next;
}

/** What was shown of a reply while it was written goes; of any reply where none is named. */
export function withoutLive(group: RowGroup, requestId?: string): RowGroup {
  if (group.live.length === 0) return group;
  const isGoing = (key: string): boolean => {
    const row = group.rows.get(key);
    return row !== undefined && "requestId" in row && (requestId ?? row.requestId) === row.requestId;
  };
  const going = group.live.filter(isGoing);
  const rows = going.reduce((left, key) => left.remove(key), group.rows);
  return { ...group, rows, live: group.live.filter((key) => !going.includes(key)) };
}

/** A reply while it is written: its rows grow, and vanish again if the reply is withdrawn. */
export function foldBlock(group: RowGroup, event: ReplyEvent): RowGroup {
  switch (event.type) {
    case "reply.started":
    case "signature.delta":
      return group;
    case "block.started": {
      const { requestId, index, at, block } = event;
      return appendBlock(group, block, { requestId, index, at, live: true });
    }
    // Nothing is copied: an engine joins two texts when somebody reads them.
    case "text.delta":
    case "thinking.delta":
      return change(group, blockKey(group, event), (row) =>
        row.kind === "text" || row.kind === "thinking" ? { ...row, text: row.text + event.text } : row,
      );
    case "call.delta":
      return change(group, blockKey(group, event), (row) =>
        row.kind === "tool" ? { ...row, inputText: (row.inputText ?? "") + event.json } : row,
      );
    case "block.finished": {
      const { requestId, block } = event;
      return change(group, blockKey(group, event), ({ id, at }) =>
        rowOfBlock(block, { id, at, requestId, live: true }),
      );
    }
    case "reply.withdrawn":
      return withoutLive(group, event.requestId);
    default:
      return never(event);
  }
}

const blockKey = ({ prefix }: RowGroup, { requestId, index }: { requestId: string; index: number }): string =>
  `${prefix}${requestId}:${index}`;

function rowOfBlock(
  block: Block,
  base: { readonly id: string; readonly at: number; readonly requestId: string; readonly live: boolean },
): Row | undefined {
  switch (block.type) {
    case "text":
      return { kind: "text", ...base, text: block.text };
    case "thinking":
      return { kind: "thinking", ...base, text: block.text, hidden: block.hidden !== undefined };
    case "tool_use":
      return {
        kind: "tool",
        ...base,
        callId: block.id,
        tool: block.name,
        input: block.input,
        ...(block.broken === undefined ? {} : { inputText: block.broken }),
        status: base.live ? "writing" : "requested",
        display: null,
        result: [],
        ms: null,
      };
    case "image":
    case "document":
    case "tool_result":
    case "foreign":
      return undefined;
    default:
      return never(block);
  }
}

/** What is said between the rows, with its place in the log; a `notice` is only shown. */
export function note(
  group: RowGroup,
  { seq, at }: { seq: number; at: number },
  { level = "info", text, code }: { level?: "info" | "warning"; text: string; code?: string },
): RowGroup {
  const said = { level, text, ...(code === undefined ? {} : { code }) };
  return append(group, { kind: "notice", at, id: `${group.prefix}note:${seq}`, ...said });
}

export function notice(group: RowGroup, { display, at, level, text, code }: SaidNotice): RowGroup {
  const notices = group.notices + 1;
  const row = { kind: "notice", id: `${group.prefix}notice:${notices}`, at, level, text, code } as const;
  return { ...append(group, { ...row, ...(display && { display }) }), notices };
}
