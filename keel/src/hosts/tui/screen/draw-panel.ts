/** A panel as rows: its head, as much of it as there is room for, and what keys mean in it. */
import type { DrawnPanel } from "../dialog/draw.ts";
import { inputLines } from "../foot/input-view.ts";
import { footRows } from "../foot/live.ts";
import type { RowContext } from "../rows/context.ts";
import { inertOne } from "../text/inert.ts";
import { bold, clip, dim, role, sides, span, type TextLine, type TextSpan } from "../text/styled.ts";
import { type ListPanel, type Panel, type PanelItem, shownItems, type TextPanel } from "./panel.ts";

export function drawPanel(panel: Panel, context: RowContext, most: number): DrawnPanel {
  return panel.kind === "list" ? drawList(panel, context, most) : drawText(panel, context, most);
}

const cellsOf = ({ columns }: RowContext): number => columns - 2;

function drawList(panel: ListPanel, context: RowContext, most: number): DrawnPanel {
  const { signs } = context;
  const cells = cellsOf(context);
  const shown = shownItems(panel);
  const head = sides(
    [role("running", ` ${panel.title}`, { bold: true })],
    [dim(panel.state === "loading" ? "loading" : `${shown.length} of ${panel.items.length}`)],
    cells,
    context,
  );
  const filter = inputLines(panel.filter, { ...context, hint: "type to find", kind: "words" }, 1);
  const help = clip([dim(`   ${panel.help}`)], cells, context);
  const room = Math.max(1, most - 3);
  const preview = panel.preview && panel.preview.id === shown[panel.marked]?.id ? panel.preview.lines : [];
  const previewRows = room >= 8 ? Math.min(preview.length, Math.floor(room / 2)) : 0;
  const itemRows = room - previewRows - (previewRows > 0 ? 1 : 0);
  const first = Math.max(0, Math.min(panel.marked - Math.floor(itemRows / 2), shown.length - itemRows));
  const rows = shown
    .slice(first, first + itemRows)
    .map((item, index) => itemRow(item, first + index === panel.marked, context));
  const below: TextLine[] =
    previewRows === 0
      ? []
      : [
          [dim(`   ${signs.line.repeat(Math.min(24, cells - 4))}`)],
          ...preview.slice(0, previewRows).map((line) => clip([span("   "), ...line.spans], cells, context)),
        ];
  const lines = [head, ...filter.lines, ...rows, ...below, help];
  return { lines, cursor: { row: 1, column: filter.cursor.column } };
}

function itemRow(item: PanelItem, isMarked: boolean, context: RowContext): TextLine {
  const { signs } = context;
  const mark: TextSpan[] =
    item.mark === "done"
      ? [role("done", `${signs.done} `)]
      : item.mark === "failed"
        ? [role("failed", `${signs.failed} `)]
        : item.mark === "running"
          ? [role("running", `${signs.turning[0]} `)]
          : [];
  return sides(
    [
      isMarked ? role("running", ` ${signs.pointer} `) : { text: "   " },
      ...mark,
      isMarked ? bold(inertOne(item.label)) : span(inertOne(item.label)),
    ],
    item.note === "" ? [] : [dim(inertOne(item.note))],
    cellsOf(context),
    context,
  );
}

function drawText(panel: TextPanel, context: RowContext, most: number): DrawnPanel {
  const cells = cellsOf(context);
  const room = Math.max(1, most - 2);
  const rows: TextLine[] = [];
  const wanted = panel.search?.editor.text ?? "";
  let at = panel.scroll;
  for (; at < panel.lines.length && rows.length < room; at++) {
    const line = panel.lines[at];
    if (line) rows.push(...footRows(line, context).map((row) => withFound(row, wanted)));
  }
  const share =
    panel.lines.length === 0
      ? 100
      : Math.round((Math.min(at, panel.lines.length) / panel.lines.length) * 100);
  const head = sides(
    [role("running", ` ${panel.title}`, { bold: true })],
    [dim(panel.state === "loading" ? "loading" : `${share} %`)],
    cells,
    context,
  );
  if (panel.search?.isWriting) {
    const line = inputLines(panel.search.editor, { ...context, hint: "words to find", kind: "words" }, 1);
    return {
      lines: [head, ...rows.slice(0, room), ...line.lines],
      cursor: { row: 1 + Math.min(rows.length, room), column: line.cursor.column },
    };
  }
  const help = clip([dim("   arrows, Space, b move · / finds, n next · Esc leaves")], cells, context);
  return { lines: [head, ...rows.slice(0, room), help], cursor: null };
}

/** What was looked for, marked where it stands. */
function withFound(line: TextLine, wanted: string): TextLine {
  if (wanted.trim() === "") return line;
  return line.flatMap((part): TextSpan[] => {
    const at = part.text.toLowerCase().indexOf(wanted.toLowerCase());
    if (at < 0) return [part];
    const end = at + wanted.length;
    const piece = (text: string, more = {}): TextSpan => ({ text, style: { ...part.style, ...more } });
    return [
      piece(part.text.slice(0, at)),
      piece(part.text.slice(at, end), { inverse: true }),
      piece(part.text.slice(end)),
    ];
  });
}
