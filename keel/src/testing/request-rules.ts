/**
 * What a provider refuses. A request that passes here is valid in pairing, order and content, so a test that runs
 * every request through it proves that the conversation never gets stuck on a refusal.
 */
import { isObject } from "../kernel/json.ts";
import { viewOf } from "./read-request.ts";
import { type BlockView, joinTurns, type MessageView, type RequestView } from "./request-view.ts";

/** One sentence for each broken rule; none for a valid request. Takes a `ModelRequest` or a body of a wire. */
export function findViolations(request: unknown): string[] {
  return violationsIn(viewOf(request));
}

export function violationsIn(view: RequestView): string[] {
  const turns = joinTurns(view.messages);
  return [...view.problems, ...rules.flatMap((rule) => rule(view, turns))];
}

type RequestRule = (view: RequestView, turns: readonly MessageView[]) => string[];

const toolNamePattern = /^[a-zA-Z0-9_-]{1,128}$/;
const callIdPattern = /^[a-zA-Z0-9_-]+$/;
const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/;
const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const documentTypes = ["application/pdf", "text/plain"];
const maxCacheMarks = 4;
const minThinkingTokens = 1024;

const limits: RequestRule = ({ model, maxTokens, thinking }) => {
  const found: string[] = [];
  if (model === "") found.push("model: no model is named");
  if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)
    found.push("max_tokens: must be a whole number above 0");
  if (thinking.kind !== "budget") return found;
  if (!(thinking.tokens >= minThinkingTokens))
    found.push(`thinking: the budget must be at least ${minThinkingTokens}`);
  if (!(thinking.tokens < Number(maxTokens))) found.push("thinking: the budget must be below max_tokens");
  return found;
};

const system: RequestRule = (view) =>
  view.system.flatMap(({ text }, index) => (isBlank(text) ? [`system.${index}: the text is blank`] : []));

const tools: RequestRule = ({ tools: all, forcedTool, thinking }, turns) => {
  const names = all.map((tool) => tool.name);
  const found = all.flatMap(({ name, schema }, index) => {
    const problems: string[] = [];
    if (!toolNamePattern.test(name))
      problems.push(`tools.${index}: the name ${JSON.stringify(name)} is not allowed`);
    if (names.indexOf(name) !== index) problems.push(`tools.${index}: the name ${name} is taken`);
    if (!isObject(schema) || schema["type"] !== "object")
      problems.push(`tools.${index}: the schema is not that of an object`);
    else if (["oneOf", "anyOf", "allOf"].some((key) => key in schema))
      problems.push(`tools.${index}: the schema has a choice at its top`);
    return problems;
  });
  const usesTools = turns.some(({ blocks }) =>
    blocks.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (all.length === 0 && usesTools)
    found.push("tools: the messages hold tool blocks, but no tool is defined");
  if (forcedTool === undefined) return found;
  if (forcedTool !== "*" && !names.includes(forcedTool))
    found.push(`tool_choice: there is no tool ${JSON.stringify(forcedTool)}`);
  if (thinking.kind !== "off") found.push("tool_choice: a call cannot be forced while the model thinks");
  return found;
};

const order: RequestRule = (_, turns) => {
  const found = turns.flatMap(({ role, blocks }, index) => {
    const problems: string[] = [];
    if (role !== "user" && role !== "assistant")
      problems.push(`messages.${index}: there is no role ${JSON.stringify(role)}`);
    if (blocks.length === 0) problems.push(`messages.${index}: the content is empty`);
    return problems;
  });
  if (turns.length === 0) return ["messages: there is none"];
  if (turns[0]?.role !== "user") found.push("messages.0: the first message must be the user's");
  const last = turns.at(-1);
  // A reply that paused inside a tool of the provider is the one thing that is sent back to be gone on with.
  const paused = last?.blocks.some(({ type }) => type === "other");
  if (last?.role === "assistant" && !paused)
    found.push(`messages.${turns.length - 1}: the last message must be the user's`);
  return found;
};

const contents: RequestRule = (_, turns) =>
  turns.flatMap(({ role, blocks }, index) =>
    blocks.flatMap((block, position) =>
      contentProblems(block, role).map((problem) => `messages.${index}.content.${position}: ${problem}`),
    ),
  );

const thoughts: RequestRule = (_, turns) =>
  turns.flatMap(({ role, blocks }, index) => {
    if (role !== "assistant") return [];
    const path = `messages.${index}`;
    const problems: string[] = [];
    if (blocks.at(-1)?.type === "thinking") problems.push(`${path}: the last block must not be thinking`);
    const firstCall = blocks.findIndex(({ type }) => type === "tool_use");
    const late = blocks.findLastIndex(({ type }) => type === "thinking") > firstCall && firstCall >= 0;
    // Between tools of the provider thinking goes on within one message.
    const interleaved = blocks.some(({ type }) => type === "other");
    if (late && !interleaved) problems.push(`${path}: thinking must come before the calls`);
    return problems;
  });

const pairs: RequestRule = (_, turns) => {
  const used = new Set<string>();
  return turns.flatMap((turn, index) => {
    const path = `messages.${index}`;
    return turn.role === "assistant"
      ? callProblems(turn, turns[index + 1], used).map((problem) => `${path}: ${problem}`)
      : resultProblems(turn, turns[index - 1]).map((problem) => `${path}: ${problem}`);
  });
};

const cacheMarks: RequestRule = (view, turns) => {
  const blocks = turns.flatMap((turn) => turn.blocks);
  const inner = blocks.flatMap((block) => (block.type === "tool_result" ? block.content : []));
  const marks = [...view.tools, ...view.system, ...blocks, ...inner].filter(
    ({ cache }) => cache !== undefined,
  );
  const found: string[] = [];
  if (marks.length > maxCacheMarks)
    found.push(`cache_control: at most ${maxCacheMarks} marks are allowed, there are ${marks.length}`);
  if (blocks.some(({ type, cache }) => type === "thinking" && cache !== undefined))
    found.push("cache_control: thinking cannot be marked");
  const lives = [...view.tools, ...view.system, ...blocks].flatMap(({ cache }) => cache ?? []);
  if (lives.lastIndexOf("1h") > lives.indexOf("5m") && lives.includes("5m"))
    found.push("cache_control: a mark of an hour must not follow one of five minutes");
  return found;
};

const rules: readonly RequestRule[] = [limits, system, tools, order, contents, thoughts, pairs, cacheMarks];

function contentProblems(block: BlockView, role: string): string[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? ["the text is blank"] : [];
    case "image":
      return [...onlyFrom("user", role, "an image"), ...sourceProblems(block, imageTypes)];
    case "document":
      return [...onlyFrom("user", role, "a document"), ...sourceProblems(block, documentTypes)];
    case "thinking":
      return [
        ...onlyFrom("assistant", role, "thinking"),
        ...(block.signed || block.hidden ? [] : ["the thinking has no signature"]),
      ];
    case "tool_use":
      return [
        ...onlyFrom("assistant", role, "a tool_use"),
        ...(callIdPattern.test(block.id) ? [] : [`the id ${JSON.stringify(block.id)} is not allowed`]),
        ...(toolNamePattern.test(block.name)
          ? []
          : [`the name ${JSON.stringify(block.name)} is not allowed`]),
        ...(isObject(block.input) ? [] : ["the input is not an object"]),
      ];
    case "tool_result":
      return [...onlyFrom("user", role, "a tool_result"), ...innerProblems(block)];
    case "other":
      return [];
  }
}

function innerProblems({ content, failed }: BlockView & { type: "tool_result" }): string[] {
  const found = content.flatMap((part) =>
    part.type === "tool_use" || part.type === "tool_result" || part.type === "thinking"
      ? [`a result cannot hold ${part.type}`]
      : contentProblems(part, "user"),
  );
  if (failed && content.length === 0) found.push("a failed result must say something");
  if (failed && content.some(({ type }) => type !== "text")) found.push("a failed result can only hold text");
  return found;
}

function sourceProblems(
  block: BlockView & { type: "image" | "document" },
  allowed: readonly string[],
): string[] {
  const { source } = block;
  if (source.kind === "reference") return [];
  if (source.kind === "text") return isBlank(source.data) ? [`the ${block.type} is blank`] : [];
  const found: string[] = [];
  if (!allowed.includes(source.mediaType))
    found.push(`the media type ${JSON.stringify(source.mediaType)} is not allowed`);
  if (source.data.length % 4 !== 0 || !base64Pattern.test(source.data))
    found.push(`the ${block.type} is not valid base64`);
  return found;
}

function callProblems(turn: MessageView, next: MessageView | undefined, used: Set<string>): string[] {
  const answers = (next?.role === "user" ? next.blocks : []).flatMap((block) =>
    block.type === "tool_result" ? [block.id] : [],
  );
  return turn.blocks.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    if (used.has(block.id)) return [`the id ${block.id} is used twice`];
    used.add(block.id);
    const count = answers.filter((id) => id === block.id).length;
    if (count === 0) return [`tool_use ${block.id} has no tool_result in the next message`];
    return count > 1 ? [`tool_use ${block.id} has ${count} results`] : [];
  });
}

function resultProblems(turn: MessageView, before: MessageView | undefined): string[] {
  const calls = new Set(
    (before?.role === "assistant" ? before.blocks : []).flatMap((block) =>
      block.type === "tool_use" ? [block.id] : [],
    ),
  );
  const found = turn.blocks.flatMap((block) =>
    block.type === "tool_result" && !calls.has(block.id)
      ? [`tool_result ${block.id} answers no tool_use of the message before`]
      : [],
  );
  const firstOther = turn.blocks.findIndex(({ type }) => type !== "tool_result");
  if (firstOther >= 0 && turn.blocks.findLastIndex(({ type }) => type === "tool_result") > firstOther)
    found.push("results must come first");
  return found;
}

const onlyFrom = (owner: string, role: string, what: string): string[] =>
  role === owner ? [] : [`${what} cannot stand in a message of the ${role}`];

const isBlank = (text: string): boolean => text.trim() === "";
