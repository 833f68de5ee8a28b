// What programs do with the AI SDK's provider: whole and streamed texts, tools, structured answers, sessions, failures.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { generateObject, generateText, jsonSchema, streamText } from "ai";
import * as provider from "ai-sdk-provider-claude-code";
import { z } from "zod";
import { check, executable, inProcess, project, same } from "./kit.mjs";

const settings = {
  cwd: project,
  settingSources: [],
  env: { ...process.env },
  ...(executable && !inProcess ? { pathToClaudeCodeExecutable: executable } : {}),
};
const model = (more = {}) => provider.claudeCode("sonnet", { ...settings, ...more });
const file = (name) => path.join(project, name);

// --- texts
const whole = await check(
  "a text is generated",
  generateText({ model: model(), prompt: "Go on.\nsay: hello there" }),
);
same("the words come", whole?.text, "hello there");
same("it ends by itself", whole?.finishReason, "stop");
same("usage is told", [whole?.usage.inputTokens, whole?.usage.outputTokens], [100, 20]);
const about = whole?.providerMetadata?.["claude-code"];
await check(
  "its session, cost and time are told",
  () => about.sessionId && about.costUsd > 0 && about.durationMs > 0,
);
same("nothing is warned of", whole?.warnings ?? [], []);

const streamed = streamText({ model: model(), prompt: `Go on.\nsay: ${"word ".repeat(20).trim()}` });
const parts = await check("a text is streamed", Array.fromAsync(streamed.fullStream));
const deltas = parts?.filter(({ type }) => type === "text-delta") ?? [];
await check(
  "piece by piece",
  () => deltas.length > 1 && deltas.map(({ text }) => text).join("") === "word ".repeat(20).trim(),
);
same("its usage is told too", (await streamed.usage).outputTokens, 20);

// --- tools
writeFileSync(file("notes.txt"), "alpha\n");
const read = await generateText({
  model: model(),
  prompt: `Go on.\ncall: Read {"file_path":"${file("notes.txt")}"}`,
});
await check(
  "a tool runs inside of the session",
  () => read.text.startsWith("It worked") && read.text.includes("alpha"),
);
await check("and is told as a call with its result", () => {
  const [step] = read.steps;
  return step.toolCalls[0].toolName === "Read" && JSON.stringify(step.toolResults[0]).includes("alpha");
});
const asked = [];
const canUseTool = async (name, input, { suggestions }) => {
  asked.push({ name, suggestions });
  return name === "Bash"
    ? { behavior: "deny", message: "not here" }
    : { behavior: "allow", updatedInput: input };
};
const streaming = { canUseTool, streamingInput: "always" };
await generateText({
  model: model(streaming),
  prompt: `Go on.\ncall: Write {"file_path":"${file("made.txt")}","content":"x"}`,
});
await check(
  "a write is asked about and made",
  () => asked[0].name === "Write" && existsSync(file("made.txt")),
);
const refused = await generateText({
  model: model(streaming),
  prompt: 'Go on.\ncall: Bash {"command":"touch never.txt"}',
});
await check(
  "a refused command does not run, and the model hears why",
  () => !existsSync(file("never.txt")) && refused.text.includes("not here"),
);
const own = provider.createCustomMcpServer({
  name: "own",
  tools: {
    double: {
      description: "Doubles a number",
      inputSchema: z.object({ value: z.number().describe("what to double") }),
      handler: async ({ value }) => ({ content: [{ type: "text", text: String(value * 2) }] }),
    },
  },
});
const doubled = await check(
  "a tool of the program is called",
  generateText({
    model: model({ mcpServers: { own }, allowedTools: ["mcp__own__double"] }),
    prompt: 'Go on.\ncall: mcp__own__double {"value":21}',
  }),
);
same("with its answer for the model", doubled?.text, "It worked: 42");

// --- structured answers
const schema = z.object({ city: z.string(), people: z.number() });
const objects = await check(
  "an object is generated",
  generateObject({
    model: model(),
    schema,
    prompt: 'Go on.\ncall: StructuredOutput {"city":"Bern","people":134000}',
  }),
);
same("as its schema says", objects?.object, { city: "Bern", people: 134000 });
const loose = jsonSchema({
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
  additionalProperties: false,
});
same(
  "and by a JSON schema",
  (
    await generateObject({
      model: model(),
      schema: loose,
      prompt: 'Go on.\ncall: StructuredOutput {"ok":true}',
    }).catch((error) => ({ object: String(error) }))
  ).object,
  { ok: true },
);

// --- sessions
const resumed = await check(
  "a session goes on",
  generateText({ model: model({ resume: about?.sessionId }), prompt: "Go on.\nsay: again" }),
);
same("under the same id", resumed?.providerMetadata["claude-code"].sessionId, about?.sessionId);
await check("an unknown session is an error that names it", () =>
  generateText({
    model: model({ resume: "00000000-0000-4000-8000-000000000000" }),
    prompt: "Go on.\nsay: x",
    maxRetries: 0,
  }).then(
    () => false,
    (error) => /no conversation found/i.test(`${error.message} ${error.data?.stderr ?? ""}`),
  ),
);

// --- failures
await check("a refused key is an error of the key", () =>
  generateText({ model: model(), prompt: "Go on.\nfail: 401", maxRetries: 0 }).then(
    () => false,
    (error) => provider.isAuthenticationError(error),
  ),
);
await check("a failed request is an error", () =>
  generateText({ model: model(), prompt: "Go on.\nfail: 400", maxRetries: 0 }).then(
    () => false,
    (error) => error.message.includes("scripted error 400"),
  ),
);
await check("a limit of turns is an error or an end by length", () =>
  generateText({
    model: model({ maxTurns: 1 }),
    prompt: `Go on.\ncall: Read {"file_path":"${file("notes.txt")}"}\nsay: never`,
    maxRetries: 0,
  }).then(
    ({ finishReason, text }) => finishReason !== "stop" && !text.includes("never"),
    () => true,
  ),
);
const controller = new AbortController();
setTimeout(() => controller.abort(), 1_500);
await check("an abort ends it", () =>
  generateText({
    model: model(),
    prompt: "Go on.\nwait: 3000",
    abortSignal: controller.signal,
    maxRetries: 0,
  }).then(
    () => false,
    (error) => error.name === "AbortError" || /abort/i.test(error.message),
  ),
);

// --- what only callbacks show
let seen;
await generateText({
  model: model({
    onQueryCreated: (query) => {
      seen = query;
    },
  }),
  prompt: "Go on.\nsay: x",
});
await check("the query itself is handed out", () => typeof seen.interrupt === "function");
const hooks = [];
const hook = (name) => [
  {
    hooks: [
      async (input) => {
        hooks.push([name, input.tool_name, existsSync(input.transcript_path)]);
        return {};
      },
    ],
  },
];
await generateText({
  model: model({
    streamingInput: "always",
    hooks: { PreToolUse: hook("before"), PostToolUse: hook("after") },
  }),
  prompt: `Go on.\ncall: Read {"file_path":"${file("notes.txt")}"}`,
});
same("hooks of the program are called, with a transcript that is there", hooks, [
  ["before", "Read", true],
  ["after", "Read", true],
]);
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "file", mediaType: "image/png", data: `data:image/png;base64,${pixel}` };
const looked = await check(
  "an image is taken",
  generateText({
    model: model({ streamingInput: "always" }),
    messages: [{ role: "user", content: [{ type: "text", text: "Go on.\nsay: seen" }, image] }],
  }),
);
same("and answered", looked?.text, "seen");
