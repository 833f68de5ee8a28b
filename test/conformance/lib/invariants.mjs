/** Rules that hold in every scenario. A broken rule fails the scenario. */

const NEEDS_IDS = new Set(["assistant", "user", "result", "stream_event"]);
const RESULT_NUMBERS = ["duration_ms", "duration_api_ms", "num_turns", "total_cost_usd"];
const HOOK_BASE = ["session_id", "transcript_path", "cwd", "hook_event_name"];

export function findProblems({ timeline, requests }, scenario) {
  const problems = new Set();
  const calls = new Map();
  const answered = new Set();
  const uuids = new Set();
  const tasks = new Map();
  let sawInit = false;

  for (const entry of timeline) {
    if (entry.kind === "callback") checkCallback(entry, problems);
    if (entry.kind !== "message") continue;
    const { message } = entry;

    if (NEEDS_IDS.has(message.type) || message.subtype === "init") {
      if (typeof message.session_id !== "string") problems.add(`${message.type} without session_id`);
      if (typeof message.uuid !== "string") problems.add(`${message.type} without uuid`);
      else if (uuids.has(message.uuid) && !message.isReplay)
        problems.add(`uuid of a ${message.type} message used twice`);
      uuids.add(message.uuid);
    }

    if (message.subtype === "init") sawInit = true;
    if (message.type === "assistant") {
      if (!sawInit) problems.add("assistant message before init");
      for (const block of blocksOf(message)) if (block.type === "tool_use") calls.set(block.id, block.name);
    }
    if (message.type === "user") {
      for (const block of blocksOf(message)) {
        if (block.type !== "tool_result") continue;
        if (!calls.has(block.tool_use_id))
          problems.add(`tool_result ${block.tool_use_id} before its tool_use`);
        if (answered.has(block.tool_use_id)) problems.add(`two tool_results for ${block.tool_use_id}`);
        answered.add(block.tool_use_id);
      }
    }
    if (message.parent_tool_use_id && !calls.has(message.parent_tool_use_id)) {
      problems.add(`subagent message before the call ${message.parent_tool_use_id}`);
    }
    if (message.subtype === "task_started") {
      tasks.set(message.task_id, message);
      if (message.tool_use_id && !calls.has(message.tool_use_id))
        problems.add("task_started before its tool_use");
    }
    if (message.subtype === "task_notification" && !tasks.has(message.task_id)) {
      problems.add("task_notification without task_started");
    }
    if (message.type === "result") checkResult(message, problems);
  }

  for (const { kind, violations } of requests) {
    if (kind !== "message" || scenario.allowsBadRequests) continue;
    for (const violation of violations) problems.add(`API request: ${violation}`);
  }
  return [...problems];
}

function checkCallback({ callback, toolUseId, hasSignal, input }, problems) {
  if (callback === "canUseTool") {
    if (!hasSignal) problems.add("canUseTool without an AbortSignal");
    if (typeof toolUseId !== "string") problems.add("canUseTool without toolUseID");
  }
  if (callback === "hook") {
    for (const field of HOOK_BASE)
      if (typeof input?.[field] !== "string") problems.add(`hook input without ${field}`);
    if (!hasSignal) problems.add("hook without an AbortSignal");
  }
}

function checkResult(message, problems) {
  for (const field of RESULT_NUMBERS) {
    if (typeof message[field] !== "number") problems.add(`result without ${field}`);
  }
  if (typeof message.is_error !== "boolean") problems.add("result without is_error");
  if (!Array.isArray(message.permission_denials)) problems.add("result without permission_denials");
  if (message.subtype === "success" && typeof message.result !== "string")
    problems.add("result/success without result text");
  if (message.subtype !== "success" && !Array.isArray(message.errors))
    problems.add("error result without errors");
}

function blocksOf(message) {
  return Array.isArray(message.message?.content) ? message.message.content : [];
}
