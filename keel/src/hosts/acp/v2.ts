/** Version 2: its words for what is told and asked: messages, calls and terminals are changed by their ids. Pure. */
import type {
  ContentBlock,
  SessionConfigOption,
  SessionUpdate,
  ToolCallContent,
} from "@agentclientprotocol/sdk/experimental/v2";
import { never } from "../../kernel/result.ts";
import type { Display } from "../../protocol/tool.ts";
import { isoTime } from "../../view/say.ts";
import type { Speaker, Telling } from "./dialect.ts";
import { diffOf } from "./diffs.ts";
import { type Choices, offeredOptions } from "./options.ts";
import { permissionV2 } from "./permission.ts";
import { contentOf, imagesOf, placesOf, planEntry } from "./tool-calls.ts";
import type { StopReason, Wording, WorkState } from "./wording.ts";

export const wordingV2: Wording = {
  updates: updatesV2,
  commands: (commands): SessionUpdate => ({
    sessionUpdate: "available_commands_update",
    availableCommands: commands.map(({ name, description, argumentHint: hint }) => ({
      type: "command",
      name,
      description,
      ...(hint === "" ? {} : { input: { type: "text", hint } }),
    })),
  }),
  choices: (choices): SessionUpdate[] => [
    { sessionUpdate: "config_option_update", configOptions: configV2(choices) },
  ],
  state: workStateV2,
  permission: permissionV2,
  echoes: true,
};

export const configV2 = (choices: Choices): SessionConfigOption[] =>
  offeredOptions(choices).map(({ id, ...option }) => ({ type: "select", configId: id, ...option }));

const idle = { sessionUpdate: "state_update", state: "idle" } as const;

const stopped: Readonly<Record<StopReason, SessionUpdate>> = {
  end_turn: { ...idle, stopReason: "end_turn" },
  max_tokens: { ...idle, stopReason: "max_tokens" },
  max_turn_requests: { ...idle, stopReason: "max_turn_requests" },
  refusal: { ...idle, stopReason: "refusal" },
  cancelled: { ...idle, stopReason: "cancelled" },
};

function workStateV2(now: WorkState): SessionUpdate {
  if (now.state === "running") return { sessionUpdate: "state_update", state: "running" };
  if (now.state === "requires_action") return { sessionUpdate: "state_update", state: "requires_action" };
  const { stopReason, error } = now;
  if (stopReason === "error") return { ...idle, stopReason, error: error ?? null };
  return stopReason ? stopped[stopReason] : idle;
}

type MessageWords = { readonly messageId: string; readonly content: ContentBlock[] };

const whole: Readonly<Record<Speaker, (words: MessageWords) => SessionUpdate>> = {
  user: (words) => ({ sessionUpdate: "user_message", ...words }),
  agent: (words) => ({ sessionUpdate: "agent_message", ...words }),
  thought: (words) => ({ sessionUpdate: "agent_thought", ...words }),
};

const more: Readonly<Record<Speaker, (messageId: string, content: ContentBlock) => SessionUpdate>> = {
  user: (messageId, content) => ({ sessionUpdate: "user_message_chunk", messageId, content }),
  agent: (messageId, content) => ({ sessionUpdate: "agent_message_chunk", messageId, content }),
  thought: (messageId, content) => ({ sessionUpdate: "agent_thought_chunk", messageId, content }),
};

/** A session has one list of what is to be done. */
const planId = "todo";

export function updatesV2(telling: Telling): SessionUpdate[] {
  switch (telling.kind) {
    case "message": {
      const { by, messageId, content, part } = telling;
      if (part === "whole") return [whole[by]({ messageId, content: [...content] })];
      return content.map((block) => more[by](messageId, block));
    }
    case "withdrawn":
      return [whole[telling.by]({ messageId: telling.messageId, content: [] })];
    case "call": {
      const { callId: toolCallId, fields } = telling;
      return [{ sessionUpdate: "tool_call_update", toolCallId, status: "pending", ...fields }];
    }
    case "call-started": {
      const { callId: toolCallId, fields = {} } = telling;
      return [{ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", ...fields }];
    }
    case "call-goes-on": {
      const { callId: toolCallId, display } = telling;
      const content = display ? contentFor(toolCallId, display) : [];
      return [
        ...(display ? terminalOf(toolCallId, display) : []),
        {
          sessionUpdate: "tool_call_update",
          toolCallId,
          status: "in_progress",
          ...(content.length === 0 ? {} : { content }),
        },
      ];
    }
    case "call-ended": {
      const { callId: toolCallId, status, display, result, data } = telling;
      return [
        ...terminalOf(toolCallId, display),
        {
          sessionUpdate: "tool_call_update",
          toolCallId,
          status,
          content: [...contentFor(toolCallId, display), ...imagesOf(result)],
          ...placesOf(display),
          ...(data === undefined ? {} : { rawOutput: data }),
        },
      ];
    }
    case "call-cut":
      return [{ sessionUpdate: "tool_call_update", toolCallId: telling.callId, status: "cancelled" }];
    case "plan": {
      const entries = telling.todos.map(planEntry);
      return [{ sessionUpdate: "plan_update", plan: { type: "items", planId, entries } }];
    }
    case "usage": {
      const { used, size, costUsd: amount } = telling;
      return [{ sessionUpdate: "usage_update", used, size, cost: { amount, currency: "USD" } }];
    }
    case "compacted": {
      const summary = [{ type: "text" as const, text: telling.summary }];
      const { id: compactionId } = telling;
      return [{ sessionUpdate: "compaction_update", compactionId, status: "completed", summary }];
    }
    case "notice": {
      const { severity, title, description = null } = telling;
      return [{ sessionUpdate: "notice", severity, title, description }];
    }
    case "pulse":
      return [{ sessionUpdate: "session_info_update", updatedAt: isoTime(telling.at) ?? null }];
    case "title":
      return [{ sessionUpdate: "session_info_update", title: telling.title }];
    default:
      return never(telling);
  }
}

/** A command is shown in a terminal of its own, which has the id of its call. */
function terminalOf(terminalId: string, display: Display): SessionUpdate[] {
  if (display.kind !== "terminal") return [];
  const { command, output, exitCode } = display;
  return [
    {
      sessionUpdate: "terminal_update",
      terminalId,
      command,
      output: { data: Buffer.from(output).toString("base64") },
      ...(exitCode === null ? {} : { exitStatus: { exitCode } }),
    },
  ];
}

function contentFor(terminalId: string, display: Display): ToolCallContent[] {
  if (display.kind === "terminal") return [{ type: "terminal", terminalId }];
  return display.kind === "diff" ? [diffOf(display)] : contentOf(display);
}
