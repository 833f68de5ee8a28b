/** A reply while it is written: its rows grow, and vanish again if the reply is withdrawn. */
import { never } from "../kernel/never.ts";
import type { Envelope, Live } from "../protocol/event.ts";
import type { Row } from "./rows.ts";
import { add, blockId, type RowChange, removeLive, rowOfBlock, set } from "./transcript-rows.ts";

const blockEvents = [
  "reply.started",
  "block.started",
  "text.delta",
  "thinking.delta",
  "signature.delta",
  "call.delta",
  "block.finished",
  "reply.withdrawn",
] as const;

export type BlockEvent = Extract<Live, { type: (typeof blockEvents)[number] }>;

const blockEventTypes: ReadonlySet<string> = new Set(blockEvents);
export const isBlockEvent = (event: Envelope): event is BlockEvent => blockEventTypes.has(event.type);

export function changeBlock(rows: readonly Row[], event: BlockEvent): RowChange[] {
  switch (event.type) {
    case "reply.started":
    case "signature.delta":
      return [];
    case "block.started": {
      const { requestId, index, at } = event;
      const row = rowOfBlock(event.block, { id: blockId(requestId, index), at, requestId, live: true });
      return row ? [add(row)] : [];
    }
    case "text.delta":
    case "thinking.delta":
      return grow(rows, event, (row) =>
        row.kind === "text" || row.kind === "thinking" ? { ...row, text: row.text + event.text } : row,
      );
    case "call.delta":
      return grow(rows, event, (row) =>
        row.kind === "tool" ? { ...row, inputText: (row.inputText ?? "") + event.json } : row,
      );
    case "block.finished":
      return grow(rows, event, ({ id, at }) =>
        rowOfBlock(event.block, { id, at, requestId: event.requestId, live: true }),
      );
    case "reply.withdrawn":
      return removeLive(rows, event.requestId);
    default:
      return never(event);
  }
}

function grow(
  rows: readonly Row[],
  { requestId, index }: { requestId: string; index: number },
  change: (row: Row) => Row | undefined,
): RowChange[] {
  const id = blockId(requestId, index);
  const found = rows.findLastIndex((row) => row.id === id);
  const row = rows[found];
  const next = row && change(row);
  return next && next !== row ? [set(found, next)] : [];
}
