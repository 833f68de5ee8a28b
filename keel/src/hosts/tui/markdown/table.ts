/** A table of Markdown as aligned columns without borders; where it is too wide, each row as a list of its cells. */
import {
  asIs,
  blank,
  bold,
  clip,
  dim,
  lineWidth,
  type PrintLine,
  padTo,
  styled,
  type TextLine,
  type TextSpan,
  words,
} from "../text/styled.ts";
import { inlineSpans, type MarkdownContext } from "./inline.ts";

type Side = "left" | "right" | "centre";

/** Undefined for rows that are no table. */
export function tableLines(rows: readonly string[], context: MarkdownContext): PrintLine[] | undefined {
  const [head, rule, ...body] = rows.map(cellsOf);
  if (!head || rule?.length !== head.length || !rule.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  const side = rule.map(
    (cell): Side => (cell.endsWith(":") ? (cell.startsWith(":") ? "centre" : "right") : "left"),
  );
  const heads = head.map((cell) => styled(inlineSpans(cell, context), { bold: true }));
  const cells = body.map((row) => head.map((_, column) => inlineSpans(row[column] ?? "", context)));
  return inColumns(heads, cells, { side, context });
}

/** Cells that are drawn already. */
export function inColumns(
  heads: readonly TextLine[],
  cells: readonly (readonly TextLine[])[],
  { side = [], context }: { side?: readonly Side[]; context: MarkdownContext },
): PrintLine[] {
  const widths = heads.map((cell, column) =>
    Math.max(
      ...[cell, ...cells.map((row) => row[column] ?? [])].map((one) => lineWidth(one, context.profile)),
    ),
  );
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  if (total > context.columns - 2) return asList(heads, cells, context);
  const align = (row: readonly TextLine[]): PrintLine => {
    const line = row.flatMap((cell, column): TextSpan[] => [
      ...(column === 0 ? [] : [{ text: "  " }]),
      ...aligned(cell, widths[column] ?? 0, side[column] ?? "left", context),
    ]);
    return asIs(...withoutTail(line));
  };
  return [
    align(heads),
    asIs(dim(widths.map((width) => context.signs.line.repeat(width)).join("  "))),
    ...cells.map(align),
  ];
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function aligned(cell: TextLine, width: number, side: Side, { profile }: MarkdownContext): TextLine {
  const missing = width - lineWidth(cell, profile);
  if (side === "left" || missing <= 0) return padTo(cell, width, profile);
  const before = side === "right" ? missing : Math.floor(missing / 2);
  return padTo([{ text: " ".repeat(before) }, ...cell], width, profile);
}

/** Blanks at the end of a row are nobody's. */
function withoutTail(line: readonly TextSpan[]): TextSpan[] {
  const kept = [...line];
  for (let last = kept.at(-1); last && last.text.trimEnd() === ""; last = kept.at(-1)) kept.pop();
  const last = kept.at(-1);
  if (last) kept[kept.length - 1] = { ...last, text: last.text.trimEnd() };
  return kept;
}

function asList(
  heads: readonly TextLine[],
  rows: readonly (readonly TextLine[])[],
  context: MarkdownContext,
): PrintLine[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [blank]),
    ...row.flatMap((cell, column): PrintLine[] => {
      if (cell.length === 0) return [];
      const head = clip(heads[column] ?? [], Math.max(4, Math.floor(context.columns / 3)), context);
      return [words([...head, bold(": "), ...cell], 2)];
    }),
  ]);
}
