/** A finished row of the transcript as lines that stay. */
import { hintOf } from "../../../kernel/fault.ts";
import { never } from "../../../kernel/result.ts";
import { askTitle, optionLabel } from "../../../view/ask-words.ts";
import type { AgentRow, AskRow, NoticeRow, Row, TaskRow, TurnEndRow, UserRow } from "../../../view/rows.ts";
import { sayDuration, sayUsd } from "../../../view/say.ts";
import { sayCompaction, sayEnd, saySender } from "../../../view/say-row.ts";
import { textOfParts } from "../../../view/shown.ts";
import { markdownLines } from "../markdown/markdown.ts";
import { inertLines, inertOne, inertOutput } from "../text/inert.ts";
import { bold, cut, dim, type PrintLine, role, span, words } from "../text/styled.ts";
import { attachmentLines } from "./attachments.ts";
import type { RowContext } from "./context.ts";
import { drawDisplay } from "./display.ts";
import { toolLines } from "./tool-row.ts";

/** Nothing for what is told elsewhere: by a call's own row, or in the status line. */
export function rowLines(row: Row, context: RowContext, extent: "short" | "all" = "short"): PrintLine[] {
  switch (row.kind) {
    case "user":
      return userLines(row, context);
    case "text":
      return markdownLines(row.text, context);
    case "thinking":
      if (row.text.trim() === "" || (context.thinking === "hidden" && extent === "short")) return [];
      return inertLines(row.text.trim()).map((line) => words([span(line, { dim: true, italic: true })]));
    case "tool":
      return toolLines(row, context, extent);
    case "notice":
      return noticeLines(row, context);
    case "ask":
      return askLines(row, context, extent);
    case "compaction":
      return [words([dim(`${context.signs.dot} ${sayCompaction(row)}`)], 2)];
    case "turn-end":
      return turnEndLines(row, context, extent);
    case "agent":
      return agentLines(row, context);
    case "task":
      return taskLines(row, context);
    default:
      return never(row);
  }
}

function userLines(row: UserRow, context: RowContext): PrintLine[] {
  const { signs } = context;
  const rule = role("running", `${signs.rule}`);
  const isPerson =
    row.from.kind === "person" &&
    (row.from.name === undefined || (context.own?.inputs.includes(row.id) ?? false));
  const sender = isPerson ? [] : [words([dim(`${signs.rule}${inertOne(saySender(row))}`)], 1)];
  // It was told when it came.
  if (!hasOwnWords(row)) return [];
  const own = withoutOurTags(textOfParts(row.content)).trimEnd();
  const said = inertLines(own);
  const isWords = row.from.kind === "person" || row.from.kind === "channel";
  const lines = said.map((line) =>
    isWords
      ? words([rule, row.status === "dropped" ? span(line, { dim: true, strike: true }) : bold(line)], 1)
      : words([dim(signs.rule), dim(line)], 1),
  );
  const more = attachmentLines(row.content, rule);
  const reason =
    row.status === "dropped"
      ? [words([dim(`${signs.rule}not sent${row.reason ? `: ${inertOne(row.reason)}` : ""}`)])]
      : [];
  const shown = isWords ? lines : lines.slice(0, maxForeignRows);
  return [...sender, ...shown, ...more, ...reason];
}

/** What a task or a hook says is for the model: its start is enough here. */
const maxForeignRows = 3;

/** False for what only goes along with the next words: the output of a command of one's own, a note. */
export const hasOwnWords = ({ content }: UserRow): boolean =>
  withoutOurTags(textOfParts(content)).trim() !== "" || content.some(({ type }) => type !== "text");

/** What we put around files and commands that were mentioned is for the model; the person's own words stay. */
const withoutOurTags = (text: string): string =>
  text.replace(/\n?<(keel-[a-z-]+|attached_file|task-notice)\b[^>]*>[\s\S]*?<\/\1>/g, "");

function noticeLines({ level, text, display, code = "" }: NoticeRow, context: RowContext): PrintLine[] {
  const { signs } = context;
  if (display) {
    const shown = { ...context, target: "", isRunning: false, failed: false, extent: "all" } as const;
    const { title, note, body } = drawDisplay(display, shown);
    const head = [dim(`${signs.dot} /${inertOne(code)}`), ...title, dim(note)].filter(
      ({ text: said }) => said !== "",
    );
    return [
      words(
        head.flatMap((part, index) => (index === 0 ? [part] : [span("  "), part])),
        2,
      ),
      ...body,
    ];
  }
  const lines = inertOutput(text);
  const isWarning = level === "warning";
  return lines.map((line, index) => {
    const mark = index > 0 ? "  " : `${isWarning ? signs.warning : signs.dot} `;
    return words([isWarning ? role("asking", mark) : dim(mark), isWarning ? span(line) : dim(line)], 2);
  });
}

/** The call that was asked about tells how it went; what was answered elsewhere, or belongs to no call, is told here. */
function askLines(row: AskRow, { signs, own }: RowContext, extent: "short" | "all"): PrintLine[] {
  const { closed, ask } = row;
  const isHere = closed?.who === undefined || closed.who === own?.name;
  const isToldByCall = ask.callId !== undefined && closed?.by === "host" && isHere;
  if (!closed || closed.by === "rule" || (extent === "short" && isToldByCall)) return [];
  const option = ask.options.find(({ id }) => id === closed.answer.option);
  const answer = option ? optionLabel(option, ask.kind) : closed.answer.verdict === "allow" ? "Yes" : "No";
  const { answer: said } = closed;
  const other = isHere ? undefined : closed.who;
  const who = other ?? (closed.by === "host" ? undefined : closed.by);
  const reason = said.reason === undefined ? "" : ` (${said.reason})`;
  const by = who === undefined ? "" : `, by ${who}`;
  return [
    words([dim(`${signs.dot} ${askTitle(ask)} ${answer.replace(/ …$/, "")}${inertOne(reason + by)}`)], 2),
  ];
}

function turnEndLines(row: TurnEndRow, { signs }: RowContext, extent: "short" | "all"): PrintLine[] {
  const { reason, fault, costUsd, ms } = row;
  const figures = `${sayDuration(ms)} ${signs.dot} ${sayUsd(costUsd)}`;
  if (reason === "completed") return extent === "all" ? [cut(dim(figures))] : [];
  const isFailure = fault !== undefined || !["interrupted", "closed", "tool_deferred"].includes(reason);
  const mark = isFailure ? role("failed", `${signs.failed} `) : dim(`${signs.stopped} `);
  const said = span(inertOne(sayEnd(row)));
  if (!fault) return [words([mark, said, dim(`  ${figures}`)], 2)];
  const hint = inertOne(hintOf(fault));
  return [
    words([mark, said], 2),
    ...(hint === "" ? [] : [words([dim(`  ${hint}`)], 2)]),
    cut(dim(`  ${figures}`)),
  ];
}

function agentLines(
  { agent, title, status, totals, at, endedAt, data }: AgentRow,
  { signs }: RowContext,
): PrintLine[] {
  const isWell = status === "completed";
  const facts = [
    ...(data.toolUses === undefined ? [] : [`${data.toolUses} ${data.toolUses === 1 ? "call" : "calls"}`]),
    ...(endedAt === null ? [] : [sayDuration(endedAt - at)]),
    ...(totals.costUsd > 0 ? [sayUsd(totals.costUsd)] : []),
    ...(isWell ? [] : [status]),
  ];
  const mark = isWell
    ? role("done", signs.done)
    : status === "failed"
      ? role("failed", signs.failed)
      : dim(signs.stopped);
  const head = cut(
    mark,
    bold(` ${inertOne(agent)} `),
    span(inertOne(title)),
    dim(`  ${facts.join(` ${signs.dot} `)}`),
  );
  const why = !isWell && data.error !== undefined ? [words([dim(`   ${inertOne(data.error)}`)], 3)] : [];
  return [head, ...why];
}

function taskLines({ title, status, at, endedAt, data }: TaskRow, { signs }: RowContext): PrintLine[] {
  const isWell = status === "completed";
  const facts = [
    isWell ? "done" : status,
    ...(data.exitCode ? [`exit code ${data.exitCode}`] : []),
    ...(endedAt === null ? [] : [sayDuration(endedAt - at)]),
  ];
  const mark = isWell
    ? role("done", signs.done)
    : status === "failed"
      ? role("failed", signs.failed)
      : dim(signs.stopped);
  return [cut(mark, bold(" Task "), span(inertOne(title)), dim(`  ${facts.join(` ${signs.dot} `)}`))];
}
