/** Version 1: its words for what is told and asked. Pure. */
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { never } from "../../kernel/result.ts";
import type { Display } from "../../protocol/tool.ts";
import { isoTime } from "../../view/say.ts";
import type { EditorAbilities } from "./capabilities.ts";
import type { Speaker, Telling } from "./dialect.ts";
import { diffsOf } from "./diffs.ts";
import { configOf } from "./options.ts";
import { permissionV1 } from "./permission.ts";
import { contentOf, imagesOf, placesOf, planEntry } from "./tool-calls.ts";
import type { Wording } from "./wording.ts";

export type TellingV1 = {
  /** What the editor said that it shows. */
  readonly shows: EditorAbilities["shows"];
  /** Whether the editor has a terminal by this id. */
  hasTerminal(id: string): boolean;
};

export const wordingV1 = (to: TellingV1): Wording => ({
  updates: (telling) => updatesV1(telling, to),
  commands: (commands): SessionUpdate => ({
    sessionUpdate: "available_commands_update",
    availableCommands: commands.map(({ name, description, argumentHint }) => ({
      name,
      description,
      ...(argumentHint === "" ? {} : { input: { hint: argumentHint } }),
    })),
  }),
  // Both: editors show modes, options or both.
  choices: (choices, changed): SessionUpdate[] => [
    ...(changed === "mode"
      ? [{ sessionUpdate: "current_mode_update" as const, currentModeId: choices.applied.permissionMode }]
      : []),
    { sessionUpdate: "config_option_update", configOptions: configOf(choices) },
  ],
  // The answer to a prompt says when its work has ended.
  state: () => undefined,
  permission: permissionV1,
  echoes: false,
});

const chunkKinds = {
  user: "user_message_chunk",
  agent: "agent_message_chunk",
  thought: "agent_thought_chunk",
} as const satisfies Record<Speaker, string>;

export function updatesV1(telling: Telling, to: TellingV1): SessionUpdate[] {
  switch (telling.kind) {
    case "message": {
      const { by, messageId, content } = telling;
      return content.map((block) => ({ sessionUpdate: chunkKinds[by], messageId, content: block }));
    }
    // There are no words for it: what follows says what holds.
    case "withdrawn":
      return [];
    case "call": {
      const { callId: toolCallId, fields } = telling;
      return [{ sessionUpdate: "tool_call", toolCallId, status: "pending", ...fields }];
    }
    case "call-started": {
      const { callId: toolCallId, fields = {} } = telling;
      return [{ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", ...fields }];
    }
    case "call-goes-on": {
      const { callId: toolCallId, display } = telling;
      const content = display ? contentFor(display, to) : [];
      const shown = content.length === 0 ? {} : { content };
      return [{ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", ...shown }];
    }
    case "call-ended": {
      const { callId: toolCallId, status, display, result, data } = telling;
      return [
        {
          sessionUpdate: "tool_call_update",
          toolCallId,
          status,
          content: [...contentFor(display, to), ...imagesOf(result)],
          ...placesOf(display),
          ...(data === undefined ? {} : { rawOutput: data }),
        },
      ];
    }
    case "call-cut":
      return [{ sessionUpdate: "tool_call_update", toolCallId: telling.callId, status: "failed" }];
    case "plan":
      return [{ sessionUpdate: "plan", entries: telling.todos.map(planEntry) }];
    case "usage": {
      const { used, size, costUsd: amount } = telling;
      return [{ sessionUpdate: "usage_update", used, size, cost: { amount, currency: "USD" } }];
    }
    case "compacted": {
      const summary = [{ type: "text" as const, text: telling.summary }];
      const compacted = { compactionId: telling.id, status: "completed", summary } as const;
      return to.shows.compaction ? [{ sessionUpdate: "compaction_update", ...compacted }] : [];
    }
    case "notice": {
      const { severity, title, description = null, isAwaited } = telling;
      if (to.shows.notices) return [{ sessionUpdate: "notice", severity, title, description }];
      const text = description === null ? `${title}.\n` : `${title}: ${description}\n`;
      return isAwaited ? [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } }] : [];
    }
    case "pulse":
      return [{ sessionUpdate: "session_info_update", updatedAt: isoTime(telling.at) ?? null }];
    case "title":
      return [{ sessionUpdate: "session_info_update", title: telling.title }];
    default:
      return never(telling);
  }
}

function contentFor(display: Display, { hasTerminal }: TellingV1): ToolCallContent[] {
  if (display.kind === "diff") return diffsOf(display);
  if (display.kind === "terminal" && display.terminal !== undefined && hasTerminal(display.terminal))
    return [{ type: "terminal", terminalId: display.terminal }];
  return contentOf(display);
}
