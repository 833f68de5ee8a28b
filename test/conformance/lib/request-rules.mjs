/**
 * Rules every Messages API request must keep, whatever the scenario.
 * The real service answers 400 to a request that breaks one of them.
 */
export function findViolations(body, headers) {
  const found = [];
  if (!body.model) found.push("no model");
  if (!(body.max_tokens > 0)) found.push("no max_tokens");
  if (!headers["anthropic-version"]) found.push("no anthropic-version header");
  if (!headers["x-api-key"] && !headers.authorization) found.push("no credentials");

  const turns = mergeTurns(body.messages ?? []);
  if (turns.length === 0) found.push("no messages");
  else if (turns[0].role !== "user") found.push("the first message is not from the user");

  for (const { role, blocks } of turns) {
    if (blocks.length === 0) found.push(`an empty ${role} message`);
    if (blocks.some((block) => block.type === "text" && block.text === "")) found.push("an empty text block");
  }
  found.push(...findBrokenPairs(turns), ...findToolNameProblems(body.tools ?? []));
  return [...new Set(found)];
}

/** Joins neighbouring messages of the same role, as the service does. */
export function mergeTurns(messages) {
  const turns = [];
  for (const { role, content } of messages) {
    if (role !== "user" && role !== "assistant") continue;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (turns.at(-1)?.role === role) turns.at(-1).blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }
  return turns;
}

function findBrokenPairs(turns) {
  const found = [];
  const idsOf = (turn, type, key) =>
    (turn?.blocks ?? []).filter((block) => block.type === type).map((block) => block[key]);
  for (const [index, turn] of turns.entries()) {
    if (turn.role === "assistant") {
      const uses = idsOf(turn, "tool_use", "id");
      const results = idsOf(turns[index + 1], "tool_result", "tool_use_id");
      for (const id of uses)
        if (!results.includes(id)) found.push(`tool_use ${id} has no tool_result in the next message`);
      if (new Set(uses).size !== uses.length) found.push("a tool_use id is used twice");
    } else {
      const results = idsOf(turn, "tool_result", "tool_use_id");
      const uses = idsOf(turns[index - 1], "tool_use", "id");
      for (const id of results)
        if (!uses.includes(id)) found.push(`tool_result ${id} answers no tool_use of the message before`);
      if (new Set(results).size !== results.length) found.push("a tool_use has two tool_results");
    }
  }
  return found;
}

function findToolNameProblems(tools) {
  const names = tools.map((tool) => tool.name);
  return new Set(names).size === names.length ? [] : ["two tools have the same name"];
}
