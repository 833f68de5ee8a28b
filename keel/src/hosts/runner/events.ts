/** What a host application reads, one JSON object a line. Each event has a form, and `keel runner --schema` prints it. */
import * as z from "zod/mini";
import { errorCodes } from "../../app/lines/read-line.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { permissionModeSchema } from "../../protocol/settings.ts";
import { contextKinds } from "../../protocol/usage.ts";

const text = z.string();
const number = z.number();
const flag = z.boolean();
const maybe = z.optional;

/** Who did it, where it was an agent of the session. */
const agent = { agentId: maybe(text), parentToolUseId: maybe(text) };
const usage = z.object({
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number,
  cacheWriteTokens: number,
});

const stats = z.object({
  toolCalls: number,
  toolsByType: z.record(text, number),
  subAgents: number,
  filesRead: number,
  filesWritten: number,
  bashCommands: number,
  webSearches: number,
  totalToolDurationMs: number,
});

/** Fields of each event beside `type`, `conversationId` and `inputId`, which every event may carry. */
export const eventFields = {
  // Lifecycle
  ready: { version: text, protocol: number },
  init: {
    sessionId: text,
    cwd: text,
    model: text,
    permissionMode: permissionModeSchema,
    tools: z.array(text),
    commands: z.array(text),
    agents: z.array(text),
    skills: z.array(text),
    mcpServers: z.array(z.object({ name: text, status: text })),
    budget: z.object({
      maxBudgetUsd: maybe(number),
      maxTurns: maybe(number),
      maxThinkingTokens: maybe(number),
    }),
    trust: z.object({ root: text, state: text, leftOut: z.array(text) }),
    checkpointing: flag,
  },
  session_started: { sessionId: text, source: z.enum(["startup", "resume", "fork"]) },
  session_ended: { sessionId: text, reason: text },
  session_id_update: { sessionId: text, previous: maybe(text) },
  turn_complete: { sessionId: text, status: text },
  complete: { sessionId: maybe(text) },
  // Content
  assistant_text: { text: text },
  assistant_text_withdrawn: { reason: text },
  thinking_start: { model: maybe(text) },
  thinking_delta: { text: text },
  thinking: { text: text },
  command_output: { command: text, text: text },
  // Tools
  tool_start: { toolUseId: text, tool: text, params: jsonSchema, ...agent },
  tool_end: {
    toolUseId: text,
    tool: text,
    success: flag,
    summary: text,
    durationMs: number,
    denied: maybe(flag),
    interrupted: maybe(flag),
    ...agent,
  },
  tool_progress: { toolUseId: text, tool: text, elapsedMs: number, ...agent },
  hook_pre_tool: { toolUseId: text, tool: text, ...agent },
  hook_post_tool: { toolUseId: text, tool: text, success: flag, durationMs: number, ...agent },
  // Agents and work in the background
  subagent_started: {
    agentId: text,
    agentType: text,
    description: text,
    parentToolUseId: maybe(text),
    background: flag,
  },
  subagent_stopped: { agentId: text, agentType: text, status: text, activeTools: z.array(text) },
  task_update: { taskId: text, kind: text, status: text, description: text, summary: maybe(text) },
  agent_stop: { status: text },
  agent_notification: { level: z.enum(["info", "warning"]), title: text, message: text, code: maybe(text) },
  // Interactive
  user_question_request: { requestId: text, toolUseId: maybe(text), questions: jsonSchema, ...agent },
  plan_approval_request: {
    requestId: text,
    toolUseId: maybe(text),
    plan: text,
    planFile: maybe(text),
    ...agent,
  },
  tool_approval_request: {
    requestId: text,
    kind: z.enum(["permission", "elicitation", "other"]),
    toolUseId: maybe(text),
    tool: maybe(text),
    title: text,
    reason: maybe(text),
    input: maybe(jsonSchema),
    options: z.array(
      z.object({
        id: text,
        label: text,
        verdict: z.enum(["allow", "deny"]),
        rule: maybe(text),
        preview: maybe(text),
      }),
    ),
    schema: maybe(jsonSchema),
    ...agent,
  },
  request_closed: { requestId: text, approved: flag, by: text, who: maybe(text) },
  todo_update: { todos: z.array(z.object({ id: text, text: text, status: text })) },
  review_comment_added: { comment: jsonSchema },
  scripts_config_proposed: { proposal: jsonSchema },
  issue_updated: { issue: jsonSchema },
  // Results
  result: {
    sessionId: text,
    success: flag,
    /** Why it ended: `completed`, `interrupted`, `max_turns` … or `dropped` for an input that had no turn. */
    status: text,
    inputIds: z.array(text),
    error: maybe(z.object({ code: text, message: text })),
    structuredOutput: maybe(jsonSchema),
    costUsd: number,
    totalCostUsd: number,
    usage,
    requests: number,
    durationMs: number,
    apiDurationMs: number,
    stats,
    checkpoint: maybe(text),
  },
  context_usage: { ...usage.shape, totalTokens: number, model: text },
  context_window_size: {
    model: text,
    windowTokens: number,
    totalTokens: number,
    tokens: z.object(Object.fromEntries(contextKinds.map((kind) => [kind, number]))),
  },
  compact_boundary: { trigger: text, tokensBefore: number, tokensAfter: number },
  // Checkpoints
  checkpoint_created: { checkpoint: text, at: z.enum(["message", "result"]) },
  files_rewound: {
    checkpoint: text,
    preview: flag,
    files: z.array(z.object({ path: text, insertions: number, deletions: number })),
    skipped: z.array(z.object({ path: text, why: text })),
    lost: z.array(text),
    undo: maybe(text),
  },
  // State changes
  model_changed: { model: text, why: text },
  permission_mode_changed: { mode: permissionModeSchema, why: text },
  max_thinking_tokens_changed: { maxThinkingTokens: z.nullable(number) },
  mcp_servers_changed: { added: z.array(text), removed: z.array(text), errors: z.record(text, text) },
  // Answers to questions of the host
  supported_models: {
    models: z.array(z.object({ id: text, name: text, provider: text, windowTokens: number })),
  },
  supported_commands: { commands: z.array(z.object({ name: text, description: text, argumentHint: text })) },
  mcp_status: { servers: z.array(z.object({ name: text, status: text, error: maybe(text) })) },
  inquiry_answered: { inquiry: text, answer: jsonSchema },
  account_info: { provider: text, keySource: text, model: text },
  // Errors and ends
  error: { code: z.enum(errorCodes), message: text, fatal: flag, fault: maybe(text) },
  auth_error: { message: text, code: text },
  interrupted: { running: flag },
  shutdown: { reason: text },
} as const;

export type EventName = keyof typeof eventFields;
type Fields = typeof eventFields;

/** On every event: whose conversation it is, and which input it belongs to. */
const common = { conversationId: text, inputId: maybe(text) };

export type RunnerEvent = {
  [Name in EventName]: { type: Name; inputId?: string | undefined } & z.infer<z.ZodMiniObject<Fields[Name]>>;
}[EventName];
export type RunnerEventOf<Name extends EventName> = Extract<RunnerEvent, { type: Name }>;

export const eventSchemas: ReadonlyMap<string, z.ZodMiniType> = new Map(
  Object.entries(eventFields).map(([name, fields]) => [
    name,
    z.strictObject({ type: z.literal(name), ...common, ...fields }),
  ]),
);
