/** What goes on, above the input: the reply as far as it is not printed, calls that run, agents below them. */
import type { AgentRow, Row, ToolRow } from "../../../view/rows.ts";
import { sayDuration } from "../../../view/say.ts";
import { type KeyedTranscript, rowsOf } from "../../../view/transcript.ts";
import type { RowContext } from "../rows/context.ts";
import { type Printing, unfinishedText } from "../rows/printing.ts";
import { drawTool, isOpen, targetOf } from "../rows/tool-row.ts";
import { inertLines, inertOne } from "../text/inert.ts";
import { clip, dim, type PrintLine, role, span, type TextLine } from "../text/styled.ts";
import { wrapRows } from "../text/wrap.ts";

export type LiveContext = RowContext & {
  readonly now: number;
  readonly turn: number;
  /** Whether the last calls of an agent that runs are seen below it. */
  readonly agents?: "closed" | "open" | undefined;
};

/** Calls that are seen of an agent that is unfolded. */
const agentCalls = 4;

/** Rows of agents below the call that started them. */
const mostAgents = 5;

/** Rows of output below a call that runs. */
const outputRows = 5;

/** At most so many rows; what is left out is counted. Nothing reaches the edge. */
export function liveLines(
  transcript: KeyedTranscript,
  printing: Printing,
  context: LiveContext,
  most: number,
): TextLine[] {
  const blocks = blocksOf(transcript, printing, context);
  const total = blocks.reduce((sum, block) => sum + block.length, 0);
  if (total <= most) return blocks.flat();
  if (most <= 0) return [];
  // A single block is the reply: its end is what is being written.
  if (blocks.length === 1) return (blocks[0] ?? []).slice(-most);
  return shortened(blocks, most, context);
}

function shortened(blocks: readonly (readonly TextLine[])[], most: number, look: LiveContext): TextLine[] {
  const { signs, columns } = look;
  const [first = [], ...rest] = blocks;
  const heads = blocks.map((block) => block[0] ?? []);
  if (most === 1) return [clip([...(heads[0] ?? []), dim(`  and ${rest.length} more`)], columns - 2, look)];
  if (blocks.length > most) {
    const shown = heads.slice(0, Math.max(0, most - 1));
    return [...shown, [dim(`  ${signs.ellipsis} and ${blocks.length - shown.length} more`)]];
  }
  // Each its head; what room is left goes to the first.
  const room = most - rest.length;
  const top = first.length <= room ? first : [first[0] ?? [], ...first.slice(first.length - room + 1)];
  return [...top.slice(0, room), ...rest.map((block) => block[0] ?? [])];
}

function blocksOf(transcript: KeyedTranscript, printing: Printing, context: LiveContext): TextLine[][] {
  const rows = rowsOf(transcript).toArray();
  const agents = rows.filter((row): row is AgentRow => row.kind === "agent");
  return rows.flatMap((row) => {
    const lines = blockOf(row, { transcript, printing, agents, context });
    return lines.length > 0 ? [lines] : [];
  });
}

type Around = {
  readonly transcript: KeyedTranscript;
  readonly printing: Printing;
  readonly agents: readonly AgentRow[];
  readonly context: LiveContext;
};

function blockOf(row: Row, { transcript, printing, agents, context }: Around): TextLine[] {
  switch (row.kind) {
    case "text":
      return unfinishedText(row, printing, context).flatMap((line) => footRows(line, context));
    case "thinking":
      return row.live ? thinkingLines(row.text, context) : [];
    case "tool": {
      const below = agents.filter(({ data, status }) => data.callId === row.callId && status === "running");
      const seen = below.length > mostAgents ? mostAgents - 1 : below.length;
      return [
        ...callLines(row, context),
        ...below.slice(0, seen).flatMap((agent) => agentLines(agent, transcript, context)),
        ...(seen < below.length
          ? [[dim(`   ${context.signs.ellipsis} and ${below.length - seen} more`)]]
          : []),
      ];
    }
    default:
      return [];
  }
}

/** A line that will stay, as long as it may still change: broken as it will be, but short of the edge. */
export function footRows(line: PrintLine, { columns, profile, signs }: RowContext): TextLine[] {
  if (line.wrap === "cut") return [clip(line.spans, columns - 2, { profile, signs })];
  return wrapRows(line.spans, columns - 2, { profile, hang: line.hang });
}

function thinkingLines(text: string, { thinking, columns, profile, signs }: LiveContext): TextLine[] {
  const lines = inertLines(text.trim());
  const style = { dim: true, italic: true } as const;
  if (thinking === "shown")
    return lines.flatMap((line) => wrapRows([span(line, style)], columns - 2, { profile })).slice(-6);
  const last = lines.findLast((line) => line.trim() !== "");
  return last === undefined
    ? []
    : [clip([span(`${signs.dot} ${last}`, style)], columns - 2, { profile, signs })];
}

function callLines(row: ToolRow, context: LiveContext): TextLine[] {
  const { columns, profile, signs } = context;
  const { head, body } = drawTool(row, { ...context, resultRows: outputRows }, "short", context.turn);
  const time =
    row.status === "running" ? dim(`  ${sayDuration(Math.max(0, context.now - row.at))}`) : undefined;
  const first = clip(time ? [...head, time] : head, columns - 2, { profile, signs });
  if (!isOpen(row.status)) return [first];
  return [first, ...body.slice(-outputRows).map(({ spans }) => clip(spans, columns - 2, { profile, signs }))];
}

/** An agent below its call: the newest thing that it does, and of agents below it the same. */
function agentLines(agent: AgentRow, transcript: KeyedTranscript, context: LiveContext): TextLine[] {
  if (agent.status !== "running") return [];
  const { signs, columns, profile } = context;
  const rows = rowsOf(transcript, agent.id).toArray();
  const calls = rows.filter((row): row is ToolRow => row.kind === "tool");
  const last = rows.findLast((row) => row.kind === "tool" || row.kind === "text");
  const doing =
    last?.kind === "tool"
      ? `${inertOne(last.tool)} ${targetOf(last.input, context)}`
      : last?.kind === "text"
        ? inertOne(last.text.slice(-200))
        : "begins";
  const facts = `${calls.length} ${calls.length === 1 ? "call" : "calls"} ${signs.dot} ${sayDuration(Math.max(0, context.now - agent.at))}`;
  const indent = " ".repeat(2 + agent.depth);
  const line = clip(
    [role("running", `${indent}${signs.nested} `), span(inertOne(agent.agent)), dim(` ${facts}  ${doing}`)],
    columns - 2,
    { profile, signs },
  );
  const done =
    context.agents !== "open"
      ? []
      : calls.slice(-agentCalls).map((call) => {
          const { head } = drawTool(call, context, "short", context.turn);
          return clip([span(`${indent}  `), ...head], columns - 2, { profile, signs });
        });
  const below = rows.flatMap((row) => (row.kind === "agent" ? agentLines(row, transcript, context) : []));
  return [line, ...done, ...below];
}
