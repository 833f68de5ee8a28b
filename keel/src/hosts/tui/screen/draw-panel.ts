/** A panel as rows: its head, as much of it as there is room for, and what keys mean in it. */
import type { DrawnPanel } from "../dialog/dialog-look.ts";
import { inputLines } from "../foot/input-view.ts";
import { footRows } from "../foot/live.ts";
import type { RowContext } from "../rows/context.ts";
import { inertLines, inertOne } from "../text/inert.ts";
import {
  bold,
  clip,
  dim,
  farthestEdge,
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
  const title = [role("running", ` ${panel.title}`, { bold: true })];
  const isAsked = panel.scope !== undefined;
  const nothing =
    panel.state === "ready" && panel.items.length === 0
      ? wrapRows([span(`   ${panel.empty}`)], cells, { profile: context.profile, hang: 3 })
      : [];
  if (nothing.length > 0 && !isAsked)
    return { lines: [clip(title, cells, context), ...nothing, [dim("   Esc leaves")]], cursor: null };
  const isSmall =
    !isAsked && panel.items.length <= fewItems && panel.filter.text === "" && panel.state === "ready";
  const listed = layOut(panel.items, context);
  const head = sides(title, isSmall ? [] : [dim(countOf(panel, shown.length))], listed.edge, context);
  const filter = isSmall
    ? { lines: [], cursor: null }
    : inputLines(panel.filter, { ...context, hint: "type to find", kind: "words" }, 1);
  const help = clip([dim(`   ${panel.help}`)], cells, context);
  const room = Math.max(1, most - 2 - filter.lines.length);
  const marked = shown[panel.marked];
  const isMeant = panel.preview?.id === "" || panel.preview?.id === marked?.id;
  const preview = panel.preview
    ? isMeant
      ? panel.preview.lines.map(({ spans }) => spans)
      : []
    : marked?.whole === undefined
      ? wholeOf(marked, panel.items, listed, context)
      : inertLines(marked.whole).flatMap((line) => wrapRows([span(line)], cells - 3, context));
  const free = Math.max(Math.floor(room / 2), room - shown.length - 1);
  const previewRows = room >= 6 ? Math.min(preview.length, free) : 0;
  const itemRows = room - previewRows - (previewRows > 0 ? 1 : 0);
  const rows =
    nothing.length > 0
      ? nothing.slice(0, itemRows)
      : windowOf(shown, panel.marked, itemRows, listed, context);
  const below: TextLine[] =
    previewRows === 0
      ? []
      : [
          panel.preview || marked?.whole !== undefined
            ? [dim(`   ${signs.line.repeat(Math.min(24, cells - 4))}`)]
            : [],
          ...shortened(preview, previewRows, context).map((line) =>
            clip([span("   "), ...line], cells, context),
          ),
        ];
  const lines = [head, ...filter.lines, ...rows, ...below, help];
  return { lines, cursor: filter.cursor && { row: 1, column: filter.cursor.column } };
}

const countOf = ({ state, items }: ListPanel, shown: number): string => {
  if (state === "loading") return "loading";
  return shown === items.length ? String(shown) : `${shown} of ${items.length}`;
};

function shortened(rows: readonly TextLine[], most: number, { signs }: RowContext): readonly TextLine[] {
  if (rows.length <= most) return rows;
  return [...rows.slice(0, most - 1), [dim(`${signs.ellipsis} ${rows.length - most + 1} more lines`)]];
}

/** Some of the items as rows, those around the marked one. */
export function itemRows(
  items: readonly PanelItem[],
  marked: number,
  most: number,
  context: RowContext,
): TextLine[] {
  return windowOf(items, marked, most, layOut(items, context), context);
}

function windowOf(
  items: readonly PanelItem[],
  marked: number,
  most: number,
  listed: ListLayout,
  context: RowContext,
): TextLine[] {
  const first = Math.max(0, Math.min(marked - Math.floor(most / 2), items.length - most));
  return items
    .slice(first, first + most)
    .map((item, index) => itemRow(item, first + index === marked, listed, context));
}

type ListLayout = {
  /** Where the notes begin. */
  readonly column: number | "right";
  /** Where what stands right ends. */
  readonly edge: number;
  readonly hasMarks: boolean;
};

/** Notes of a few cells stand at the right; longer ones begin in one column, behind the longest label that leaves room. */
function layOut(items: readonly PanelItem[], context: RowContext): ListLayout {
  const hasMarks = items.some(({ mark }) => mark !== undefined);
  const cells = cellsOf(context);
  const longest = Math.max(0, ...items.map(({ label }) => widthOf(label, context) + (hasMarks ? 2 : 0)));
  const longestNote = Math.max(0, ...items.map(({ note }) => widthOf(note, context)));
  const edge = Math.min(cells, Math.max(farthestEdge, 3 + longest + 2 + longestNote));
  if (longestNote <= shortNote) return { column: "right", edge, hasMarks };
  const beside = cells - 5 - longestNote;
  const most = Math.max(Math.floor(cells * mostOfLabel), beside);
  return { column: 3 + Math.min(longest, most) + 2, edge: Math.min(cells, farthestEdge), hasMarks };
}

const widthOf = (text: string, { profile }: RowContext): number => cellWidth(inertOne(text), profile);

const shortNote = 16;
/** What a label may take of a row whose note would take all of it. */
const mostOfLabel = 0.42;
/** Rows for what did not fit. */
const wholeRows = 3;

/**
 * The marked one whole, in a list in which something does not fit into its row. There are as many rows for every one of
 * them: the list stands still while somebody goes through it.
 */
function wholeOf(
  marked: PanelItem | undefined,
  items: readonly PanelItem[],
  { column, edge, hasMarks }: ListLayout,
  context: RowContext,
): TextLine[] {
  const cells = cellsOf(context);
  const room = cells - 3;
  const isLabelCut = ({ label, note }: PanelItem): boolean => {
    const noteCells = widthOf(note, context);
    const end = column === "right" ? edge - (noteCells > 0 ? noteCells + 2 : 0) : column - 2;
    return 3 + (hasMarks ? 2 : 0) + widthOf(label, context) > end;
  };
  const isCut = (item: PanelItem): boolean =>
    isLabelCut(item) || (column !== "right" && column + widthOf(item.note, context) > cells);
  const cut = items.filter(isCut);
  if (cut.length === 0 || !marked) return [];
  const rowsFor = (text: string): number => Math.ceil(widthOf(text, context) / room);
  const wanted = cut.map((item) => rowsFor(item.note) + (isLabelCut(item) ? rowsFor(item.label) : 0));
  const most = Math.min(wholeRows, Math.max(...wanted));
  const spans = [
    ...(isLabelCut(marked) ? [span(`${inertOne(marked.label)}  `)] : []),
    dim(inertOne(marked.note)),
  ];
  const rows = wrapRows(spans, room, { profile: context.profile });
  const kept =
    rows.length > most
      ? [...rows.slice(0, most - 1), clip(inOne(rows.slice(most - 1)), room, context)]
      : rows;
  return [...kept, ...Array.from({ length: most - kept.length }, (): TextLine => [])];
}

/** The words of rows that were broken between them. */
const inOne = (rows: readonly TextLine[]): TextLine =>
  rows.flatMap((row, index) => (index === 0 ? row : [span(" "), ...row]));

/** So few are seen at once: nobody has to look for one. */
const fewItems = 6;

function itemRow(
  item: PanelItem,
  isMarked: boolean,
  { column, edge, hasMarks }: ListLayout,
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
  if (column === "right") return sides(left, note, edge, context);
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
    Math.min(cells, farthestEdge),
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
