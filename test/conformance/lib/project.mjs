/**
 * Reduces what was observed to the facts that are compared.
 *
 * Messages are sorted into lanes, because their order is only meaningful
 * within a lane: `main` (the conversation), `stream` (partial messages),
 * `agents` (one lane per subagent) and `tasks`. Callbacks are grouped by tool
 * call for the same reason. Rules that tie lanes together are in invariants.mjs.
 */

import { findProblems } from "./invariants.mjs";
import { isEcho, kindOf, OPTIONAL, REQUIRED } from "./policy.mjs";
import { mergeTurns } from "./request-rules.mjs";

export function project(observation, { scenario, directories }) {
  const hide = (value) => hidePaths(value, directories);
  const plain = hide(observation);
  const messages = plain.timeline.filter((entry) => entry.kind === "message").map((entry) => entry.message);
  const relevant = messages.filter(
    (message) => REQUIRED.has(kindOf(message)) && (scenario.keepEchoes || !isEcho(message)),
  );
  const sessions = new Names("session");
  const inMain = (message) =>
    !message.parent_tool_use_id && !isTask(message) && message.type !== "stream_event";

  return {
    main: settleOrder(relevant.filter(inMain)).map((message) => projectMessage(message, sessions)),
    stream: hide(
      projectStream(
        relevant.filter((message) => message.type === "stream_event" && !message.parent_tool_use_id),
      ),
    ),
    agents: projectAgents(relevant, scenario, sessions),
    tasks: projectTasks(relevant),
    callbacks: projectCallbacks(plain.timeline),
    calls: plain.timeline.filter((entry) => entry.kind === "call").map(projectCall),
    ends: plain.timeline.filter((entry) => entry.kind === "end").map(projectEnd),
    requests: projectRequests(plain.requests, scenario),
    notes: plain.notes,
    problems: findProblems(plain, scenario),
    unknownKinds: [...new Set(messages.map(kindOf))].filter(
      (kind) => !REQUIRED.has(kind) && !OPTIONAL.has(kind),
    ),
  };
}

// --- messages ------------------------------------------------------------

function projectMessage(message, sessions) {
  switch (kindOf(message)) {
    case "system/init":
      return projectInit(message, sessions);
    case "assistant":
      return projectAssistant(message);
    case "user":
      return projectUser(message);
    case "result":
      return projectResult(message, sessions);
    case "system/api_retry":
      return pick(message, ["type", "subtype", "attempt", "error_status", "error"]);
    case "system/permission_denied":
      return pick(message, ["type", "subtype", "tool_name", "tool_use_id"]);
    case "system/compact_boundary":
      return { ...pick(message, ["type", "subtype"]), trigger: message.compact_metadata?.trigger };
    default:
      return pick(message, ["type", "subtype"]);
  }
}

function projectInit(message, sessions) {
  return {
    ...pick(message, [
      "type",
      "subtype",
      "cwd",
      "model",
      "permissionMode",
      "tools",
      "slash_commands",
      "agents",
      "skills",
    ]),
    session: sessions.of(message.session_id),
    mcp_servers: (message.mcp_servers ?? []).map((server) => pick(server, ["name", "status"])),
    plugins: (message.plugins ?? []).map((plugin) => plugin.name),
  };
}

function projectAssistant(message) {
  return {
    type: "assistant",
    ...(message.error ? { error: message.error } : {}),
    ...(message.aborted ? { aborted: true } : {}),
    content: blocksOf(message).map((block) => {
      if (block.type === "text") return pick(block, ["type", "text"]);
      if (block.type === "thinking") return pick(block, ["type", "thinking"]);
      if (block.type === "tool_use") return pick(block, ["type", "id", "name", "input"]);
      return { type: block.type };
    }),
  };
}

function projectUser(message) {
  return {
    type: "user",
    ...(message.isSynthetic ? { isSynthetic: true } : {}),
    ...(message.isReplay ? { isReplay: true } : {}),
    content: blocksOf(message).map((block) => {
      if (block.type === "text") return pick(block, ["type", "text"]);
      if (block.type !== "tool_result") return { type: block.type };
      return {
        type: "tool_result",
        tool_use_id: block.tool_use_id,
        is_error: block.is_error === true,
        ...resultContent(block.content),
      };
    }),
    ...("tool_use_result" in message ? { tool_use_result: message.tool_use_result } : {}),
  };
}

function resultContent(content) {
  if (typeof content === "string") return { text: content };
  const blocks = content ?? [];
  const others = blocks.filter((block) => block.type !== "text").map((block) => block.type);
  return {
    text: blocks
      .filter((block) => block.type === "text")
      .map((block) => block.text)
      .join("\n"),
    ...(others.length > 0 ? { others } : {}),
  };
}

function projectResult(message, sessions) {
  const models = Object.entries(message.modelUsage ?? {}).map(([model, usage]) => [
    model,
    {
      ...pick(usage, ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"]),
      costUSD: roundCost(usage.costUSD),
    },
  ]);
  return {
    ...pick(message, [
      "type",
      "subtype",
      "is_error",
      "num_turns",
      "result",
      "stop_reason",
      "terminal_reason",
    ]),
    ...pick(message, ["structured_output", "deferred_tool_use"]),
    session: sessions.of(message.session_id),
    ...(message.errors?.length > 0 ? { errors: "some" } : {}),
    ...(message.origin ? { origin: message.origin.kind } : {}),
    permission_denials: (message.permission_denials ?? []).map((denial) =>
      pick(denial, ["tool_name", "tool_use_id", "tool_input"]),
    ),
    total_cost_usd: roundCost(message.total_cost_usd),
    usage: pick(message.usage ?? {}, [
      "input_tokens",
      "output_tokens",
      "cache_read_input_tokens",
      "cache_creation_input_tokens",
    ]),
    modelUsage: Object.fromEntries(models),
  };
}

/**
 * Tools may start while the reply is still streaming and may finish in any
 * order: puts all blocks of one reply before the tool results, and sorts
 * neighbouring results by the id of their call.
 */
function settleOrder(messages) {
  const ordered = [];
  for (const message of messages) {
    let at = ordered.length;
    if (message.type === "assistant" && message.message.id) {
      while (at > 0 && isToolOutcome(ordered[at - 1])) at -= 1;
      if (ordered[at - 1]?.message?.id !== message.message.id) at = ordered.length;
    } else if (isToolOutcome(message)) {
      while (at > 0 && isToolOutcome(ordered[at - 1]) && outcomeKey(ordered[at - 1]) > outcomeKey(message))
        at -= 1;
    }
    ordered.splice(at, 0, message);
  }
  return ordered;
}

function isToolOutcome(message) {
  return (
    kindOf(message) === "system/permission_denied" ||
    (message.type === "user" && blocksOf(message)[0]?.type === "tool_result")
  );
}

function outcomeKey(message) {
  return message.type === "user" ? `${blocksOf(message)[0].tool_use_id} 2` : `${message.tool_use_id} 1`;
}

// --- partial messages ----------------------------------------------------

/** One entry per event; deltas of one block are joined, pings left out. */
function projectStream(messages) {
  const entries = [];
  for (const { event } of messages) {
    if (event.type === "ping") continue;
    const last = entries.at(-1);
    if (event.type === "content_block_delta") {
      const { type, text, thinking, partial_json: json } = event.delta;
      const value = text ?? thinking ?? json ?? "";
      if (last?.delta === type) last.value += value;
      else if (type === "signature_delta") entries.push({ event: event.type, delta: type });
      else entries.push({ event: event.type, delta: type, value });
    } else if (event.type === "content_block_start") {
      entries.push({ event: event.type, block: event.content_block.type });
    } else if (event.type === "message_delta") {
      entries.push({ event: event.type, stop_reason: event.delta.stop_reason });
    } else {
      entries.push({ event: event.type });
    }
  }
  return entries;
}

// --- subagents and tasks ---------------------------------------------------

function projectAgents(messages, scenario, sessions) {
  const lanes = new Map();
  for (const message of messages) {
    const parent = message.parent_tool_use_id;
    if (!parent || isTask(message) || message.type === "stream_event") continue;
    const isProse = blocksOf(message).every((block) => block.type === "text" || block.type === "thinking");
    if (isProse && !scenario.keepAgentText) continue;
    append(lanes, parent, projectMessage(message, sessions));
  }
  return sortedEntries(lanes).map(([parent, lane]) => ({ parent, messages: lane }));
}

function isTask(message) {
  return message.type === "system" && ["task_started", "task_notification"].includes(message.subtype);
}

function projectTasks(messages) {
  const tasks = new Map();
  for (const message of messages.filter(isTask)) {
    const task = tasks.get(message.task_id) ?? {};
    tasks.set(message.task_id, task);
    if (message.subtype === "task_started") {
      Object.assign(task, pick(message, ["tool_use_id", "description", "subagent_type"]), { started: true });
    } else {
      Object.assign(task, pick(message, ["tool_use_id", "status", "summary"]));
    }
  }
  return [...tasks.values()].sort((a, b) => String(a.tool_use_id).localeCompare(String(b.tool_use_id)));
}

// --- callbacks, calls, end -------------------------------------------------

function projectCallbacks(timeline) {
  const groups = new Map();
  for (const entry of timeline.filter(({ kind }) => kind === "callback")) {
    const { kind, callback, toolUseId, hasSignal, input, ...rest } = entry;
    const event =
      callback === "hook"
        ? projectHook(input)
        : { callback, ...(input === undefined ? {} : { input }), ...rest };
    append(groups, callback === "hook" ? hookGroup(input) : (toolUseId ?? "session"), event);
  }
  return sortedEntries(groups).map(([call, events]) => ({ call, events }));
}

/** Hooks of a tool call belong to the call; PermissionRequest runs beside it and has no id. */
function hookGroup({ hook_event_name: event, tool_use_id: toolUseId, tool_name: tool }) {
  return event === "PermissionRequest" ? `PermissionRequest ${tool}` : (toolUseId ?? "session");
}

const HOOK_FACTS = [
  "tool_name",
  "tool_input",
  "tool_response",
  "prompt",
  "stop_hook_active",
  "last_assistant_message",
  "source",
  "trigger",
  "reason",
  "agent_type",
  "custom_instructions",
];

function projectHook(input) {
  return { hook: input.hook_event_name, ...pick(input, HOOK_FACTS) };
}

function projectCall({ name, value, error }) {
  return error === undefined ? { name, value: value === undefined ? null : value } : { name, rejected: true };
}

function projectEnd({ how, isAbort }) {
  return how === "threw" && isAbort ? "aborted" : how;
}

// --- API requests ----------------------------------------------------------

function projectRequests(requests, scenario) {
  const lanes = { main: [], agent: [] };
  for (const { kind, lane, body } of requests) {
    if (kind !== "message") continue;
    const searchable = JSON.stringify(body);
    lanes[lane].push({
      model: body.model,
      conversation: mergeTurns(body.messages).map(describeTurn),
      mentions: (scenario.probes ?? []).filter((probe) =>
        searchable.includes(JSON.stringify(probe).slice(1, -1)),
      ),
      tools: (body.tools ?? []).map((tool) => tool.name),
      thinking: body.thinking?.type,
      stream: body.stream === true,
    });
  }
  return lanes;
}

function describeTurn({ role, blocks }) {
  const parts = blocks.map((block) => {
    if (block.type === "tool_use") return `tool_use ${block.id}`;
    if (block.type === "tool_result")
      return `tool_result ${block.tool_use_id}${block.is_error ? " (error)" : ""}`;
    return block.type;
  });
  if (role === "assistant")
    return `assistant: ${parts.filter((part, index) => part !== parts[index - 1]).join(", ")}`;
  const results = parts.filter((part) => part.startsWith("tool_result")).sort();
  return `user: ${(results.length > 0 ? results : [...new Set(parts)].sort()).join(", ")}`;
}

// --- helpers ---------------------------------------------------------------

function blocksOf(message) {
  const content = message.message?.content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content ?? [];
}

function append(groups, key, value) {
  if (!groups.has(key)) groups.set(key, []);
  groups.get(key).push(value);
}

function sortedEntries(groups) {
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

function pick(object, keys) {
  return Object.fromEntries(keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]));
}

function roundCost(value) {
  return typeof value === "number" ? Number(value.toFixed(9)) : value;
}

/** Gives ids readable names by first appearance. */
class Names {
  #known = new Map();

  constructor(prefix) {
    this.prefix = prefix;
  }

  of(id) {
    if (!this.#known.has(id)) this.#known.set(id, `${this.prefix}-${this.#known.size + 1}`);
    return this.#known.get(id);
  }
}

function hidePaths(value, directories) {
  if (typeof value === "string") {
    return Object.entries(directories).reduce(
      (text, [name, path]) => text.replaceAll(path, `{{${name}}}`),
      value,
    );
  }
  if (Array.isArray(value)) return value.map((item) => hidePaths(item, directories));
  if (value && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, hidePaths(item, directories)]),
    );
  }
  return value;
}
