/** Builders of the plain messages: each takes the memo for the session's id and a label that names the message. */

import { isUuid, type UUID, uuidFrom } from "../../kernel/uuid.ts";
import type { Input } from "../../protocol/event/durable.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { isoTime } from "../../view/say.ts";
import type { SDKInputMessage, SDKModelMessage } from "../messages/content.ts";
import type {
  ApiKeySource,
  SDKAssistantMessage,
  SDKMessageOrigin,
  SDKSystemMessage,
  SDKUserMessage,
  SDKUserMessageReplay,
} from "../messages/messages.ts";
import type { SDKReplyFacts } from "../messages/provider-blocks.ts";
import type { SDKInformationalMessage, SDKStatusMessage } from "../messages/system.ts";
import { toldKind } from "../names.ts";
import { toInputBlock, toUsage } from "./blocks.ts";
import type { DialectMemo } from "./memo.ts";

export type Identity = { uuid: UUID; session_id: string };

/** The label tells messages of one event apart; the event's seq tells events apart. */
export function identity(memo: DialectMemo, label: string): Identity {
  const { sessionId } = memo.facts;
  return { uuid: uuidFrom(`${sessionId}/${memo.seq}/${label}`), session_id: sessionId };
}

/** That of a reply's message, known from outside the dialect too. */
export const idOfBlock = ({ sessionId, seq }: { sessionId: string; seq: number }, index: number): UUID =>
  uuidFrom(`${sessionId}/${seq}/block/${index}`);

/** For a message of a live event, which has no seq of its own. */
export function liveIdentity(memo: DialectMemo, { at }: { readonly at: number }): [Identity, DialectMemo] {
  return [identity(memo, `live/${memo.livesSince}/${at}`), { ...memo, livesSince: memo.livesSince + 1 }];
}

export function initMessage(memo: DialectMemo, label = "init"): SDKSystemMessage {
  const { facts } = memo;
  return {
    type: "system",
    subtype: "init",
    ...identity(memo, label),
    cwd: facts.cwd,
    model: facts.model,
    permissionMode: facts.permissionMode,
    tools: facts.tools.map(toldTool),
    mcp_servers: [...(facts.mcpServers ?? [])],
    slash_commands: [...(facts.slashCommands ?? [])],
    agents: (facts.agents ?? []).map(toldKind),
    skills: [...(facts.skills ?? [])],
    plugins: [...(facts.plugins ?? [])],
    // A provider of another wire has a variable of its own.
    apiKeySource: facts.apiKeySource as ApiKeySource,
    claude_code_version: facts.version,
    output_style: facts.outputStyle ?? "default",
    capabilities: [...capabilities],
    fast_mode_state: "off",
    analytics_disabled: true,
    ...(facts.memoryFolder === undefined ? {} : { memory_paths: { auto: facts.memoryFolder } }),
    ...(facts.projectTrust ? { project_trust: facts.projectTrust } : {}),
    ...(facts.warnings?.length ? { warnings: [...facts.warnings] } : {}),
  };
}

/** What a provider may tell beside a reply. */
export const nothingBeside: SDKReplyFacts = {
  container: null,
  context_management: null,
  diagnostics: null,
  stop_details: null,
};

/** What a host may rely on: an interrupt says what still waits, and can drop it; messages say when they begin and end. */
const capabilities = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1"] as const;

/** The list of an `init` has this tool under its older name; calls and requests have the newer one. */
const toldTool = (name: string): string => (name === "Agent" ? "Task" : name);

/** The envelope of a reply; of one that is not whole yet, or that we wrote ourselves. */
export const modelMessage = ({
  usage,
  content,
  stop_reason = null,
  stop_sequence = null,
  ...about
}: Pick<SDKModelMessage, "id" | "model" | "content"> &
  Partial<Pick<SDKModelMessage, "stop_reason" | "stop_sequence">> & { usage: Usage }): SDKModelMessage => ({
  id: about.id,
  type: "message",
  role: "assistant",
  model: about.model,
  content,
  stop_reason,
  stop_sequence,
  usage: toUsage(usage),
  ...nothingBeside,
});

export const assistantMessage = (
  message: SDKModelMessage,
  { id, at, more = {} }: { id: Identity; at: number; more?: Partial<SDKAssistantMessage> },
): SDKAssistantMessage => ({
  type: "assistant",
  message,
  parent_tool_use_id: null,
  ...more,
  ...id,
  ...timestamp(at),
});

/** What Keel says in the model's place. */
export const synthetic = { model: "<synthetic>", usage: noUsage };

type UserFacts = Pick<SDKUserMessage, "isSynthetic" | "tool_use_result" | "tool_result_meta">;

export function userMessage(
  memo: DialectMemo,
  message: { label: string; at: number; content: SDKInputMessage["content"] } & UserFacts,
): SDKUserMessage {
  const { label, at, content, ...more } = message;
  return {
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: null,
    ...more,
    ...identity(memo, label),
    ...timestamp(at),
  };
}

/** A prompt, echoed under the id that its sender gave it. */
export function replayMessage(
  memo: DialectMemo,
  { input, at }: { input: Input; at: number },
): SDKUserMessageReplay {
  const { uuid, session_id } = identity(memo, `input/${input.id}`);
  const origin = originOf(input);
  return {
    type: "user",
    message: { role: "user", content: input.content.map(toInputBlock) },
    parent_tool_use_id: null,
    isReplay: true,
    uuid: isUuid(input.id) ? input.id : uuid,
    session_id,
    ...(origin ? { origin } : {}),
    ...timestamp(at),
  };
}

/** Undefined for a person: then nothing needs to be said. */
export function originOf({ from }: Input): SDKMessageOrigin | undefined {
  switch (from.kind) {
    case "person":
      return undefined;
    case "task":
      return { kind: "task-notification", runId: from.taskId };
    case "agent":
      return { kind: "peer", from: from.name };
    case "channel":
      return { kind: "channel", server: from.name };
    case "hook":
      return { kind: "auto-continuation" };
  }
}

export function statusMessage(
  memo: DialectMemo,
  status: Pick<SDKStatusMessage, "status" | "permissionMode" | "compact_result" | "compact_error">,
): SDKStatusMessage {
  return { type: "system", subtype: "status", ...identity(memo, `status/${status.status}`), ...status };
}

export function informationalMessage(
  id: Identity,
  told: Pick<SDKInformationalMessage, "content" | "level" | "prevent_continuation" | "tag">,
): SDKInformationalMessage {
  return { type: "system", subtype: "informational", ...id, ...told };
}

function timestamp(at: number): { timestamp?: string } {
  const time = isoTime(at);
  return time === undefined ? {} : { timestamp: time };
}
