/** How rows change, and how a block of a reply becomes one. */
import { never } from "../kernel/never.ts";
import type { Block } from "../protocol/message.ts";
import type { NoticeRow, Row } from "./rows.ts";

/** Done in their order: an index counts what the changes before it left. */
export type RowChange =
  | { readonly kind: "add"; readonly row: Row }
  | { readonly kind: "set"; readonly index: number; readonly row: Row }
  | { readonly kind: "remove"; readonly index: number };

export const add = (row: Row): RowChange => ({ kind: "add", row });
export const set = (index: number, row: Row): RowChange => ({ kind: "set", index, row });

/** Removes rows from the last to the first, so that no index is moved by another. */
export function removeWhere(rows: readonly Row[], matches: (row: Row) => boolean): RowChange[] {
  const changes: RowChange[] = [];
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index];
    if (row && matches(row)) changes.push({ kind: "remove", index });
  }
  return changes;
}

/** Rows of a reply stand near the end: looking stops at the end of the turn before. */
export function removeLive(rows: readonly Row[], requestId: string): RowChange[] {
  const start = rows.findLastIndex(({ kind }) => kind === "turn-end") + 1;
  return removeWhere(
    rows.slice(start),
    (row) => "live" in row && row.live && row.requestId === requestId,
  ).map((change) => (change.kind === "remove" ? { kind: "remove", index: change.index + start } : change));
}

export const blockId = (requestId: string, index: number): string => `${requestId}:${index}`;

type BlockRowContext = {
  readonly id: string;
  readonly at: number;
  readonly requestId: string;
  readonly live: boolean;
};

/** Undefined for a block that no screen has a form for. */
export function rowOfBlock(block: Block, place: BlockRowContext): Row | undefined {
  switch (block.type) {
    case "text":
      return { kind: "text", ...place, text: block.text };
    case "thinking":
      return { kind: "thinking", ...place, text: block.text, hidden: block.hidden !== undefined };
    case "tool_use":
      return {
        kind: "tool",
        ...place,
        callId: block.id,
        tool: block.name,
        input: block.input,
        ...(block.broken === undefined ? {} : { inputText: block.broken }),
        status: place.live ? "writing" : "requested",
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

export function noticeRow({ at }: { at: number }, notice: Omit<NoticeRow, "kind" | "at">): NoticeRow {
  return { kind: "notice", at, ...notice };
}
