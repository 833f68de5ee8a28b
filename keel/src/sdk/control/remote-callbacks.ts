/** Callbacks of a program that is at the other end of a wire: permission and hooks, as options of a session here. */

import { asObject, present } from "../../kernel/json.ts";
import type { CanUseTool, OnElicitation } from "../options/callbacks.ts";
import type { HookCallback, HookMap } from "../options/hooks.ts";
import type { Channel } from "./channel.ts";
import type { InitializeRequest } from "./host-requests.ts";
import { type ProcessRequestOf, readElicitation, readPermission } from "./process-requests.ts";

/** `waits` is told when a question opens and when it is settled. */
export function remotePermission(
  channel: Pick<Channel, "request">,
  waits: { asked(): void; answered(): void },
): CanUseTool {
  return async (toolName, input, { signal, ...told }) => {
    const request: ProcessRequestOf<"can_use_tool"> = {
      subtype: "can_use_tool",
      tool_name: toolName,
      display_name: told.displayName ?? toolName,
      input,
      tool_use_id: told.toolUseID,
      ...present({
        title: told.title,
        description: told.description,
        permission_suggestions: told.suggestions,
        blocked_path: told.blockedPath,
        decision_reason: told.decisionReason,
        mcp_server: told.mcpServer,
        agent_id: told.agentID,
        default_to_no: told.defaultToNo,
        suppress_always_allow_rule: told.suppressAlwaysAllowRule,
        matched_ask_rule: told.matchedAskRule,
        decision_reason_type: told.decisionReasonType,
      }),
    };
    waits.asked();
    try {
      return readPermission(await channel.request(request, signal));
    } finally {
      waits.answered();
    }
  };
}

export const remoteElicitation =
  (channel: Pick<Channel, "request">): OnElicitation =>
  async ({ serverName, message, ...more }, { signal }) => {
    const request: ProcessRequestOf<"elicitation"> = {
      subtype: "elicitation",
      mcp_server_name: serverName,
      message,
      ...present({
        mode: more.mode,
        url: more.url,
        elicitation_id: more.elicitationId,
        requested_schema: more.requestedSchema,
      }),
    };
    return readElicitation(await channel.request(request, signal));
  };

export function remoteHooks(
  channel: Pick<Channel, "request">,
  hooks: NonNullable<InitializeRequest["hooks"]>,
): HookMap {
  const callback =
    (id: string): HookCallback =>
    async (input, toolUseID, { signal }) => {
      const call = { callback_id: id, input, ...present({ tool_use_id: toolUseID }) };
      // A hook that answers with anything but an object has no opinion.
      return asObject(await channel.request({ subtype: "hook_callback", ...call }, signal));
    };
  return Object.fromEntries(
    Object.entries(hooks).map(([event, matchers]) => [
      event,
      matchers.map(({ matcher, hookCallbackIds, timeout, onFailure }) => ({
        hooks: hookCallbackIds.map(callback),
        ...present({ matcher: matcher || undefined, timeout, onFailure }),
      })),
    ]),
  );
}
