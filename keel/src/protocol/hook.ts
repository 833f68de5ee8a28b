/**
 * The contract of hooks, the same for functions, commands and addresses: what a hook is told at a point, and what it may
 * answer. The names are those of the interface that Keel is a drop-in for, since they also stand on wires and in files;
 * inside, a point is called by the name of its row and told in our own words.
 */
import { isObject, type Json } from "../kernel/json.ts";
import type { Input } from "./event/durable.ts";
import type {
  AgentFacts,
  AgentFields,
  ListedTask,
  ListedTaskFields,
  LoadedFields,
  ModelSwitch,
  StopFacts,
  StopFields,
  ToolFields,
} from "./hook-fields.ts";
import type { ResultPart } from "./message.ts";

/** What every hook is told. */
export type HookBase = {
  session_id: string;
  /** Where the log stands; empty where none is kept. */
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  /** The input that the turn began with. */
  prompt_id?: string;
  agent_id?: string;
  agent_type?: string;
  effort?: { level: string };
};

export type SessionStartSource = "startup" | "resume" | "clear" | "compact" | "fork";
export type CompactTrigger = "manual" | "auto";

// What the engine says at a point, in its own words, and the fields that the contract has for it.
export type CallFacts = { readonly callId: string; readonly tool: string; readonly input: Json };
type EndedCall = CallFacts & { readonly content: readonly ResultPart[]; readonly ms: number };
/** The same as `textOf`, which stands beside schemas: the SDK loads this table with its first import, and no schema. */
const textIn = (content: readonly ResultPart[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

function stopFields({ objections, lastText, tasks }: StopFacts): StopFields {
  return {
    stop_hook_active: objections > 0,
    last_assistant_message: lastText,
    background_tasks: tasks.map(({ id, status, data }) => ({
      id,
      type: data.kind === "agent" ? "subagent" : "shell",
      status,
      description: data.description ?? "",
      ...(data.command === undefined ? {} : { command: data.command }),
      ...(data.agent === undefined ? {} : { agent_type: data.agent }),
    })),
    // There are no schedules.
    session_crons: [],
  };
}

/** One point: what the engine says there as the contract's fields, and how much is listened to. */
export type HookPoint<E extends string, O extends string, Facts, Fields> = {
  /** Its name in the contract. */
  readonly event: E;
  /** What may be answered, a kind of opinion in `ports/hooks.ts`. */
  readonly opinion: O;
  readonly tell: (facts: Facts) => Fields;
  /** The field that a matcher is held against; without one the point has nothing to choose by. */
  readonly matcher?: keyof Fields & string;
  /** A model may be asked whether it objects. */
  readonly judged?: true;
  /** Plain words of a command are context for the model; elsewhere they are only talk. */
  readonly plainWords?: true;
  /** The turn or the session is over: what is told now must not hold anybody up. */
  readonly isLast?: (facts: Facts) => boolean;
};

const point = <const E extends string, const O extends string, Facts, Fields extends object>(
  row: HookPoint<E, O, Facts, Fields>,
): HookPoint<E, O, Facts, Fields> => row;

/** Every point, in the order of a session's life. */
export const hookPoints = {
  /** Once, before the first input of a process is taken, and after every compaction. */
  start: point({
    event: "SessionStart",
    opinion: "context",
    matcher: "source",
    plainWords: true,
    tell: (facts: {
      source: SessionStartSource;
      model: string;
    }): { source: SessionStartSource; model?: string } => facts,
  }),
  input: point({
    event: "UserPromptSubmit",
    opinion: "input",
    judged: true,
    plainWords: true,
    tell: ({ content, from }: Input): { prompt: string; source?: string } => ({
      prompt: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
      source: from.kind === "person" ? "user" : "system",
    }),
  }),
  beforeTool: point({
    event: "PreToolUse",
    opinion: "verdict",
    matcher: "tool_name",
    judged: true,
    tell: toolFields,
  }),
  /** Runs beside the question to the host; the first answer counts. */
  permission: point({
    event: "PermissionRequest",
    opinion: "answer",
    matcher: "tool_name",
    tell: (
      call: CallFacts & { rules: readonly string[] },
    ): Omit<ToolFields, "tool_use_id"> & { permission_suggestions?: Json[] } => ({
      tool_name: call.tool,
      tool_input: call.input,
      ...(call.rules.length > 0 ? { permission_suggestions: call.rules.map(suggestion) } : {}),
    }),
  }),
  denied: point({
    event: "PermissionDenied",
    opinion: "none",
    matcher: "tool_name",
    tell: ({ reason, ...call }: CallFacts & { reason: string }) => ({ ...toolFields(call), reason }),
  }),
  afterTool: point({
    event: "PostToolUse",
    opinion: "result",
    matcher: "tool_name",
    judged: true,
    tell: ({ content, data, ms, ...call }: EndedCall & { data: Json | undefined }) => ({
      ...toolFields({ ...call, input: withAnswers(call, data) }),
      duration_ms: ms,
      tool_response: data ?? textIn(content),
    }),
  }),
  toolFailed: point({
    event: "PostToolUseFailure",
    opinion: "result",
    matcher: "tool_name",
    isLast: ({ interrupted }) => interrupted,
    tell: ({ content, interrupted, ms, ...call }: EndedCall & { interrupted: boolean }) => ({
      ...toolFields(call),
      duration_ms: ms,
      error: textIn(content),
      is_interrupt: interrupted,
    }),
  }),
  afterBatch: point({
    event: "PostToolBatch",
    opinion: "result",
    tell: (calls: readonly (CallFacts & { response?: Json })[]) => ({
      tool_calls: calls.map(({ response, ...call }): ToolFields & { tool_response?: Json } => ({
        ...toolFields(call),
        ...(response === undefined ? {} : { tool_response: response }),
      })),
    }),
  }),
  notify: point({
    event: "Notification",
    opinion: "none",
    matcher: "notification_type",
    tell: ({
      kind,
      ...facts
    }: Record<"message" | "title" | "kind", string>): {
      message: string;
      title?: string;
      notification_type: string;
    } => ({ ...facts, notification_type: kind }),
  }),
  agentStarted: point({
    event: "SubagentStart",
    opinion: "context",
    matcher: "agent_type",
    tell: ({ agentId, kind }: AgentFacts): AgentFields => ({ agent_id: agentId, agent_type: kind }),
  }),
  agentStopped: point({
    event: "SubagentStop",
    opinion: "objection",
    matcher: "agent_type",
    judged: true,
    tell: (
      facts: AgentFacts & StopFacts & { transcript: string },
    ): AgentFields & StopFields & { agent_transcript_path: string } => ({
      ...stopFields(facts),
      agent_id: facts.agentId,
      agent_type: facts.kind,
      agent_transcript_path: facts.transcript,
    }),
  }),
  compact: point({
    event: "PreCompact",
    opinion: "instructions",
    matcher: "trigger",
    tell: ({ trigger, instructions }: { trigger: CompactTrigger; instructions?: string | undefined }) => ({
      trigger,
      custom_instructions: instructions ?? null,
    }),
  }),
  compacted: point({
    event: "PostCompact",
    opinion: "none",
    matcher: "trigger",
    tell: ({ trigger, summary }: { trigger: CompactTrigger; summary: string }) => ({
      trigger,
      compact_summary: summary,
    }),
  }),
  /** Before the host's wish for another model counts. */
  modelSwitch: point({
    event: "PreModelSwitch",
    opinion: "refusal",
    matcher: "to_model",
    tell: modelSwitchFields,
  }),
  modelSwitched: point({
    event: "PostModelSwitch",
    opinion: "context",
    matcher: "to_model",
    tell: modelSwitchFields,
  }),
  taskCreated: point({ event: "TaskCreated", opinion: "none", tell: listedTaskFields }),
  taskCompleted: point({ event: "TaskCompleted", opinion: "none", tell: listedTaskFields }),
  folderAdded: point({
    event: "DirectoryAdded",
    opinion: "none",
    tell: ({ folder }: { folder: string; source: string }) => ({
      directory: folder,
      source: "register_repo_root",
    }),
  }),
  /** `at`: with the start of a conversation, or near a file that was looked at. */
  instructed: point({
    event: "InstructionsLoaded",
    opinion: "none",
    matcher: "load_reason",
    tell: (file: { path: string; source: keyof typeof memoryTypes; at: "start" | "near" }): LoadedFields => ({
      file_path: file.path,
      memory_type: memoryTypes[file.source],
      load_reason: file.at === "start" ? "session_start" : "nested_traversal",
    }),
  }),
  stop: point({ event: "Stop", opinion: "objection", judged: true, tell: stopFields }),
  stopFailed: point({
    event: "StopFailure",
    opinion: "none",
    matcher: "error",
    tell: (
      facts: Record<"error" | "details" | "lastText", string>,
    ): { error: string; error_details?: string; last_assistant_message?: string } => ({
      error: facts.error,
      error_details: facts.details,
      last_assistant_message: facts.lastText,
    }),
  }),
  /** Only where `start` was called. After a reason `clear` the session begins once more. */
  end: point({
    event: "SessionEnd",
    opinion: "none",
    matcher: "reason",
    isLast: () => true,
    tell: (facts: { reason: string }) => facts,
  }),
};

const memoryTypes = { managed: "Managed", user: "User", project: "Project", local: "Local" } as const;

/** What a person answered is part of the question's input by then, as programs of the contract find it. */
function withAnswers({ tool, input }: CallFacts, data: Json | undefined): Json {
  if (tool !== "AskUserQuestion" || !isObject(input) || !isObject(data)) return input;
  return data["answers"] === undefined ? input : { ...input, answers: data["answers"] };
}

function toolFields({ callId, tool, input }: CallFacts): ToolFields {
  return { tool_name: tool, tool_input: input, tool_use_id: callId };
}

function modelSwitchFields({ from, to, source, contextTokens }: ModelSwitch) {
  return {
    from_model: from,
    to_model: to,
    requested_model: to,
    source: source === "host" ? "sdk" : "auto",
    context_tokens: contextTokens,
  };
}

function listedTaskFields({ id, text, description }: ListedTask): ListedTaskFields {
  const item = { task_id: id, task_subject: text };
  return description === undefined ? item : { ...item, task_description: description };
}

/** A rule that is offered, in the words in which a hook may answer. */
function suggestion(rule: string): Json {
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const value = { toolName, ...(ruleContent === undefined ? {} : { ruleContent }) };
  return { type: "addRules", behavior: "allow", destination: "session", rules: [value] };
}

export type HookPoints = typeof hookPoints;

/** What is told at each point, beside the common part. */
export type HookMoment = {
  [P in keyof HookPoints]: { hook_event_name: HookPoints[P]["event"] } & ReturnType<HookPoints[P]["tell"]>;
}[keyof HookPoints];

export type HookInput = HookBase & HookMoment;
export type HookEvent = HookMoment["hook_event_name"];
export type HookMomentOf<E extends HookEvent> = Extract<HookMoment, { hook_event_name: E }>;

export const hookEvents: readonly HookEvent[] = Object.values(hookPoints).map(({ event }) => event);

/** Any row: whoever goes through all of them does not know the facts of one. */
export type AnyHookPoint = Omit<HookPoint<HookEvent, OpinionKind, never, object>, "matcher"> & {
  readonly matcher?: string;
};
type OpinionKind = HookPoints[keyof HookPoints]["opinion"];

/** The row of a point, by its name in the contract. */
export const hookPointOf = (event: string): AnyHookPoint | undefined =>
  Object.values<AnyHookPoint>(hookPoints).find((row) => row.event === event);

export const isHookEvent = (name: string): name is HookEvent => hookPointOf(name) !== undefined;

/** What a hook may answer. What it does not say, it has no opinion about. */
export type HookOutput = {
  /** `false` ends the turn. */
  continue?: boolean;
  stopReason?: string;
  suppressOutput?: boolean;
  /** Shown to the person. */
  systemMessage?: string;
  decision?: "approve" | "block";
  reason?: string;
  /** It goes on by itself; nobody waits for an opinion. */
  async?: boolean;
  /** Seconds that it may go on. */
  asyncTimeout?: number;
  hookSpecificOutput?: { hookEventName: string } & HookSpecificOutput;
};

export type HookSpecificOutput = {
  additionalContext?: string;
  permissionDecision?: "allow" | "deny" | "ask" | "defer";
  permissionDecisionReason?: string;
  updatedInput?: Record<string, unknown>;
  updatedToolOutput?: unknown;
  updatedMCPToolOutput?: unknown;
  sessionTitle?: string;
  initialUserMessage?: string;
  decision?:
    | { behavior: "allow"; updatedInput?: Record<string, unknown>; updatedPermissions?: unknown[] }
    | { behavior: "deny"; message?: string; interrupt?: boolean };
};
