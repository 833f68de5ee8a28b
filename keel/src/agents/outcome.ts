/** What the model and programs are told of an agent: by the call that started it. Pure. */

import type { Json } from "../kernel/json.ts";
import type { AgentOutcome } from "../ports/agents.ts";
import type { Task } from "../ports/tasks.ts";
import { tokensOf } from "../protocol/bill.ts";
import { text } from "../protocol/message.ts";
import { noBill } from "../protocol/usage.ts";

/** It has ended, and its call waited for it. */
export function outcomeOf(task: Task): AgentOutcome {
  const { id, status, data } = task;
  const { report = "", error = "it did not come to an end", bill = noBill } = data;
  const again = `Its id is ${id}: with SendMessage it goes on.`;
  if (status !== "completed") {
    const said = report === "" ? "" : ` What it said last:\n\n${report}`;
    return { ok: false, why: `The agent ended without a whole report: ${error}. ${again}${said}` };
  }
  const words = report === "" ? "(The agent reported nothing.)" : report;
  return {
    ok: true,
    content: [text(words), text(again)],
    data: {
      status: "completed",
      ...aboutOf(task),
      agentType: data.agent ?? "",
      content: [{ type: "text", text: words }],
      totalToolUseCount: data.toolUses ?? 0,
      totalDurationMs: Math.max(0, (task.endedAt ?? task.startedAt) - task.startedAt),
      totalTokens: tokensOf(bill),
      usage: {
        input_tokens: bill.usage.inputTokens,
        output_tokens: bill.usage.outputTokens,
        cache_read_input_tokens: bill.usage.cacheReadTokens,
        cache_creation_input_tokens: bill.usage.cacheWriteTokens,
      },
      ...(data.worktree ? { worktreePath: data.worktree.path, worktreeBranch: data.worktree.branch } : {}),
    },
  };
}

/** It runs on by itself; its end is told when it comes. */
export function launchedOutcome(task: Task): AgentOutcome {
  const { id, data } = task;
  const file = data.outputFile === undefined ? "" : ` What it says so far stands in ${data.outputFile}.`;
  return {
    ok: true,
    content: [
      text(
        `The agent ${id} works in the background. You are told when it has ended: go on meanwhile.${file}`,
      ),
    ],
    data: {
      status: "async_launched",
      ...aboutOf(task),
      description: data.description ?? "",
      outputFile: data.outputFile ?? "",
      canReadOutputFile: data.outputFile !== undefined,
    },
  };
}

const aboutOf = ({ id, data }: Task): { [name: string]: Json } => ({
  agentId: id,
  prompt: data.prompt ?? "",
});
