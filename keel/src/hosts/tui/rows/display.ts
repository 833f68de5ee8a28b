/**
 * The one table from what a tool shows to lines of the terminal. No tool is known here: a tool shows text, a diff, a
 * program's output, files, a list or an agent, and each has its look.
 */
import type { Display } from "../../../protocol/tool.ts";
import { sayCount } from "../../../view/say.ts";
import { markdownLines } from "../markdown/markdown.ts";
import { inColumns } from "../markdown/table.ts";
import { diffLines } from "../text/diff.ts";
import { inertLines, inertOne, inertOutput } from "../text/inert.ts";
import { outputLines } from "../text/program-output.ts";
import { asIs, dim, type PrintLine, role, span, type TextSpan, words } from "../text/styled.ts";
import { type RowContext, shortPath } from "./context.ts";

type Kind = Display["kind"];
type Of<K extends Kind> = Extract<Display, { kind: K }>;

export type DisplayLook = {
  /** What stands behind the name of the call, in its own row. */
  readonly title: readonly TextSpan[];
  /** What stands at the end of that row: counts. */
  readonly note: string;
  /** What stands below it. */
  readonly body: readonly PrintLine[];
};

type Draw<K extends Kind> = (display: Of<K>, context: DisplayContext) => DisplayLook;

export type DisplayContext = RowContext & {
  /** What was asked for, in a word: a path, a command, a pattern. */
  readonly target: string;
  /** Which of several things it is about, by its id. */
  readonly item?: string | undefined;
  readonly isRunning: boolean;
  readonly failed: boolean;
  /** `all`: nothing is left out, for the transcript and for whoever is asked. */
  readonly extent: "short" | "all";
};

const indent = "   ";

const table: { readonly [K in Kind]: Draw<K> } = {
  text: ({ text }, context) => {
    const lines = inertLines(text.trimEnd());
    const first = withoutTarget(lines[0] ?? "", context);
    const isShort = lines.length === 1 && !context.failed;
    return isShort
      ? { title: [span(context.target)], note: first, body: [] }
      : {
          title: [span(context.target)],
          note: "",
          body: bounded(
            lines.map((line) =>
              context.failed ? words([dim(indent + line)], indent.length) : asIs(dim(indent + line)),
            ),
            context,
            "first",
          ),
        };
  },
  markdown: ({ text }, context) => ({
    title: [span(context.target)],
    note: "",
    body: markdownLines(text, context),
  }),
  diff: ({ path, hunks }, context) => {
    const lines = hunks.flatMap((hunk) => hunk.lines);
    const added = lines.filter((line) => line.startsWith("+")).length;
    const removed = lines.filter((line) => line.startsWith("-")).length;
    const rows = diffLines(hunks, { signs: context.signs, indent: 2 }, (line) => inertLines(line)[0] ?? "");
    return {
      title: [span(inertOne(shortPath(path, context)))],
      note: `+${sayCount(added)} ${context.signs.minus}${sayCount(removed)}`,
      body: bounded(rows, context, "first"),
    };
  },
  terminal: ({ command, output, exitCode }, context) => {
    const all = outputLines(output, context.extent === "all" ? undefined : 2_000);
    const isEmpty = all.length === 1 && all[0]?.length === 0;
    const body = isEmpty ? [] : all.map((line) => asIs(span(indent), ...line));
    const code = exitCode === null || exitCode === 0 ? "" : `exit code ${exitCode}`;
    return { title: commandSpans(command, context), note: code, body: bounded(body, context, "last") };
  },
  files: ({ paths, truncated }, context) => {
    const rows = paths.map((path) => asIs(dim(indent + inertOne(shortPath(path, context)))));
    const note = `${sayCount(paths.length)}${truncated ? " or more" : ""} ${paths.length === 1 ? "file" : "files"}`;
    return { title: [span(context.target)], note, body: bounded(rows, context, "first") };
  },
  todo: ({ items }, context) => {
    const { signs } = context;
    const rows = items.map(({ text, status }) => {
      const said = inertOne(text);
      if (status === "completed") return asIs(role("done", `${indent}${signs.ticked} `), dim(said));
      if (status === "in_progress")
        return asIs(role("running", `${indent}${signs.turning[0]} `), span(said, { bold: true }));
      return asIs(dim(`${indent}${signs.unticked} `), span(said));
    });
    const done = items.filter(({ status }) => status === "completed").length;
    const note = items.length === 0 ? "" : `${done} of ${items.length} done`;
    const now = items.find(({ status }) => status === "in_progress");
    const { item } = context;
    const meant = item === undefined ? undefined : items.find(({ id }) => id === item);
    const said = inertOne(meant?.text ?? "") || context.target || inertOne(now?.text ?? "");
    // The list itself stands beside the input, as it is now: one for each change of it would drown the work.
    return { title: [span(said)], note, body: context.extent === "all" ? rows : [] };
  },
  agent: ({ name, text }, context) => ({
    // What it was started for stands first, as it did while it ran.
    title:
      context.target === ""
        ? [span(inertOne(name)), ...(text === "" ? [] : [dim(`  ${inertOne(text)}`)])]
        : [span(context.target), dim(`  ${inertOne(name)}`)],
    note: "",
    body: context.failed ? inertOutput(text).map((line) => asIs(dim(indent + line))) : [],
  }),
  table: ({ columns, rows }, context) => ({
    title: [span(context.target)],
    note: `${sayCount(rows.length)} ${rows.length === 1 ? "row" : "rows"}`,
    body: bounded(tableRows(columns, rows, context), context, "first"),
  }),
};

/** Plain words in columns: nothing in a cell is read as Markdown. */
function tableRows(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  context: DisplayContext,
): PrintLine[] {
  const heads = columns.map((head) => [span(inertOne(head), { bold: true })]);
  const cells = rows.map((row) => columns.map((_, index) => [span(inertOne(row[index] ?? ""))]));
  const within = { ...context, columns: context.columns - indent.length };
  return inColumns(heads, cells, { context: within }).map((line) =>
    line.spans.length === 0 ? line : { ...line, spans: [span(indent), ...line.spans] },
  );
}

export function drawDisplay<K extends Kind>(display: Of<K>, context: DisplayContext): DisplayLook {
  // By its own kind a display finds only the look that takes it.
  const draw = table[display.kind] as Draw<K>;
  return draw(display, context);
}

/** A command in its own row: its first line, and how many follow. */
export function commandSpans(command: string, { signs }: Pick<RowContext, "signs">): TextSpan[] {
  const lines = inertLines(command.trim());
  const more = lines.length - 1;
  return [
    span(lines[0] ?? ""),
    ...(more > 0 ? [dim(` ${signs.ellipsis} ${more} more ${more === 1 ? "line" : "lines"}`)] : []),
  ];
}

/** What repeats the target says nothing new: `src/a.ts: 120 lines` becomes `120 lines`. */
function withoutTarget(line: string, { target, cwd }: DisplayContext): string {
  for (const start of [target, `${cwd}/${target}`])
    if (start !== "" && line.startsWith(`${start}: `)) return line.slice(start.length + 2);
  return line === target ? "" : line;
}

/** Not more rows than a person reads at once; where there are more, how many, and where they are. */
function bounded(
  rows: readonly PrintLine[],
  { resultRows, extent, signs, isRunning }: DisplayContext,
  keep: "first" | "last",
): readonly PrintLine[] {
  if (extent === "all" || rows.length <= resultRows + 1) return rows;
  const more = rows.length - resultRows;
  const mark = asIs(
    dim(`${indent}${signs.ellipsis} ${sayCount(more)} more lines${isRunning ? "" : " (Ctrl-O shows all)"}`),
  );
  return keep === "first" ? [...rows.slice(0, resultRows), mark] : [mark, ...rows.slice(-resultRows)];
}
