/** What is told beside a call and its result: whose tool it is, and who decided about it. */
import type { Denial } from "../../protocol/event/durable.ts";
import type { ToolUse } from "../../protocol/message.ts";
import { type Outcome, outcomeOf } from "../../protocol/outcome.ts";
import type { SDKToolResultMeta, SDKToolUseMeta } from "../messages/content.ts";
import type { DialectMemo, DialectOutput, DurableOf, Leave } from "./memo.ts";

type ToldDecision = SDKToolResultMeta["permission_decision"];

/** By whose leave a call runs is told with its result. */
export function fromStart({ callId, by }: DurableOf<"tool.started">, memo: DialectMemo): DialectOutput {
  const { turn } = memo;
  if (!turn) return [[], memo];
  return [[], { ...memo, turn: { ...turn, leaves: new Map(turn.leaves).set(callId, by) } }];
}

/** Nothing for a call about which nobody had to decide: one that was wrong, or was cut off before. */
export function decisionOf(
  event: DurableOf<"tool.finished">,
  memo: DialectMemo,
): { tool_result_meta?: SDKToolResultMeta[] } {
  const outcome: Outcome = outcomeOf(event);
  const id = event.callId;
  if (outcome.kind === "denied") {
    const refused = refusals[outcome.denial.by];
    return refused ? { tool_result_meta: [{ id, ...refused }] } : {};
  }
  const leave = memo.turn?.leaves.get(id);
  return leave === undefined ? {} : { tool_result_meta: [{ id, permission_decision: leaves[leave] }] };
}

const leaves: Readonly<Record<Leave, ToldDecision>> = {
  rule: { decision: "accept", source: "config", reason_type: "rule" },
  mode: { decision: "accept", source: "config", reason_type: "mode" },
  hook: { decision: "accept", source: "hook", reason_type: "hook" },
  host: { decision: "accept", source: "user_temporary" },
  "read-only": { decision: "accept", source: "config" },
};

const byRule = "permission-rule";
const unasked = {
  non_execution_kind: "user-rejected",
  permission_decision: { decision: "reject", source: "config" },
} as const;

/** A program that says no is a person's no to the interface; where nobody can be asked, it calls that a person's too. */
const refusals: Readonly<Partial<Record<Denial["by"], Omit<SDKToolResultMeta, "id">>>> = {
  rule: {
    non_execution_kind: byRule,
    permission_decision: { decision: "reject", source: "config", reason_type: "rule" },
  },
  mode: {
    non_execution_kind: byRule,
    permission_decision: { decision: "reject", source: "config", reason_type: "mode" },
  },
  hook: {
    non_execution_kind: byRule,
    permission_decision: { decision: "reject", source: "hook", reason_type: "hook" },
  },
  host: {
    non_execution_kind: byRule,
    permission_decision: { decision: "reject", source: "user_reject" },
  },
  "no-host": unasked,
  timeout: unasked,
};

/** Of a server's tool: its name and the server's, as a person would read them. */
export function ownerOf({ id, name }: ToolUse): { tool_use_meta?: SDKToolUseMeta[] } {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (server === undefined || tool === undefined) return {};
  const display_name = tool
    .replaceAll(/[_\-.]+/g, " ")
    .replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
  return { tool_use_meta: [{ id, display_name, server_display_name: server, tool_name: tool }] };
}
