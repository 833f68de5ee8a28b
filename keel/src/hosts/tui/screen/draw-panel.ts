/** A panel as rows: its head, as much of it as there is room for, and what keys mean in it. */
import type { DrawnPanel } from "../dialog/draw.ts";
import { inputLines } from "../foot/input-view.ts";
import { footRows } from "../foot/live.ts";
import type { RowContext } from "../rows/context.ts";
import { inertOne } from "../text/inert.ts";
import {
  bold,
  clip,
  dim,
  type PrintLine,
  padTo,
  role,
  sides,
  span,
  type TextLine,
  type TextSpan,
} from "../text/styled.ts";
import { cellWidth } from "../text/width.ts";
import { wrapRows } from "../text/wrap.ts";
import { type ListPanel, type Panel, type PanelItem, shownItems, type TextPanel } from "./panel.ts";

export function drawPanel(panel: Panel, context: RowContext, most: number): DrawnPanel {
  return panel.kind === "list" ? drawList(panel, context, most) : drawText(panel, context, most);
}

const cellsOf = ({ columns }: RowContext): number => columns - 2;

function drawList(panel: ListPanel, context: RowContext, most: number): DrawnPanel {
  const { signs } = context;
  const cells = cellsOf(context);
  const shown = shownItems(panel);
  const count =
    panel.state === "loading"
      ? "loading"
      : shown.length === panel.items.length
        ? String(panel.items.length)
        : `${shown.length} of ${panel.items.length}`;
  const title = [role("running", ` ${panel.title}`, { bold: true })];
  if (panel.state === "ready" && panel.items.length === 0)
    return {
      lines: [
        clip(title, cells, context),
        ...wrapRows([span(`   ${panel.empty}`)], cells, { profile: context.profile, hang: 3 }),
        [dim("   Esc leaves")],
      ],
      cursor: null,
    };
  const head = sides(title, [dim(count)], cells, context);
  const isSmall = panel.items.length <= fewItems && panel.filter.text === "" && panel.state === "ready";
  const filter = isSmall
    ? { lines: [], cursor: null }
    : inputLines(panel.filter, { ...context, hint: "type to find", kind: "words" }, 1);
  const help = clip([dim(`   ${panel.help}`)], cells, context);
  const room = Math.max(1, most - 2 - filter.lines.length);
  const isMeant = panel.preview?.id === "" || panel.preview?.id === shown[panel.marked]?.id;
  const preview = isMeant ? (panel.preview?.lines ?? []) : [];
  const free = Math.max(Math.floor(room / 2), room - shown.length - 1);
  const previewRows = room >= 6 ? Math.min(preview.length, free) : 0;
  const itemRows = room - previewRows - (previewRows > 0 ? 1 : 0);
  const first = Math.max(0, Math.min(panel.marked - Math.floor(itemRows / 2), shown.length - itemRows));
  const column = noteColumn(panel.items, context);
  const hasMarks = panel.items.some(({ mark }) => mark !== undefined);
  const rows = shown
    .slice(first, first + itemRows)
    .map((item, index) => itemRow(item, first + index === panel.marked, { column, hasMarks }, context));
  const below: TextLine[] =
    previewRows === 0
      ? []
      : [
          [dim(`   ${signs.line.repeat(Math.min(24, cells - 4))}`)],
          ...shortened(preview, previewRows, context).map((line) =>
            clip([span("   "), ...line], cells, context),
          ),
        ];
  const lines = [head, ...filter.lines, ...rows, ...below, help];
  return { lines, cursor: filter.cursor && { row: 1, column: filter.cursor.column } };
}

function shortened(lines: readonly PrintLine[], most: number, { signs }: RowContext): TextLine[] {
  const rows = lines.map(({ spans }) => spans);
  if (rows.length <= most) return rows;
  return [...rows.slice(0, most - 1), [dim(`${signs.ellipsis} ${rows.length - most + 1} more lines`)]];
}

/** Notes of a few cells stand at the right; longer ones begin in one column, behind the longest label that leaves room. */
function noteColumn(items: readonly PanelItem[], context: RowContext): number | "right" {
  const width = (text: string): number => cellWidth(inertOne(text), context.profile);
  if (items.every(({ note }) => width(note) <= shortNote)) return "right";
  const marks = items.some(({ mark }) => mark !== undefined) ? 2 : 0;
  const longest = Math.max(0, ...items.map(({ label }) => width(label) + marks));
  return 3 + Math.min(longest, Math.floor(cellsOf(context) / 2)) + 2;
}

const shortNote = 16;
/** So few are seen at once: nobody has to look for one. */
const fewItems = 6;

function itemRow(
  item: PanelItem,
  isMarked: boolean,
  { column, hasMarks }: { readonly column: number | "right"; readonly hasMarks: boolean },
  context: RowContext,
): TextLine {
  const { signs, profile } = context;
  const cells = cellsOf(context);
  const mark: TextSpan[] =
    item.mark === "done"
      ? [role("done", `${signs.done} `)]
      : item.mark === "failed"
        ? [role("failed", `${signs.failed} `)]
        : item.mark === "running"
          ? [role("running", `${signs.turning[0]} `)]
          : hasMarks
            ? [{ text: "  " }]
            : [];
  const left: TextLine = [
    isMarked ? role("running", ` ${signs.pointer} `) : { text: "   " },
    ...mark,
    isMarked ? bold(inertOne(item.label)) : span(inertOne(item.label)),
  ];
  const note = item.note === "" ? [] : [dim(inertOne(item.note))];
  if (column === "right") return sides(left, note, cells, context);
  if (note.length === 0 || column > cells - 8) return clip(left, cells, context);
  const label = padTo(clip(left, column - 2, context), column, profile);
  return clip([...label, ...note], cells, context);
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
  const isWhole = panel.scroll === 0 && at >= panel.lines.length && rows.length <= room;
  const head = sides(
    [role("running", ` ${panel.title}`, { bold: true })],
    [dim(panel.state === "loading" ? "loading" : isWhole ? "" : `${share} %`)],
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
  const keys = isWhole ? "Esc leaves" : "arrows, Space, b move, / finds, n next, Esc leaves";
  const help = clip([dim(`   ${keys}`)], cells, context);
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
