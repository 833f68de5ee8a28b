// Libraries that watch an SDK's queries: each wraps them in its own way, and must see the call, the words and the usage.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import zlib from "node:zlib";
import * as sdk from "@anthropic-ai/claude-agent-sdk";
import { ClaudeAgentSDKInstrumentation } from "@arizeai/openinference-instrumentation-claude-agent-sdk";
import { PostHogClaudeAgentProcessor } from "@posthog/ai/claude-agent-sdk";
import * as braintrust from "braintrust";
import { check, executable, inProcess, project, same, until } from "./kit.mjs";

writeFileSync(path.join(project, "notes.txt"), "alpha\n");
const options = {
  cwd: project,
  settingSources: [],
  ...(executable && !inProcess ? { pathToClaudeCodeExecutable: executable } : {}),
};
const prompt = `call: Read {"file_path":"${path.join(project, "notes.txt")}"}\nsay: it says alpha`;

async function resultOf(query, more = {}) {
  let result;
  for await (const message of query({ prompt, options, ...more }))
    if (message.type === "result") result = message;
  return result?.result;
}

// --- OpenInference: spans of OpenTelemetry, by a tracer that only keeps them
const spans = [];
const tracer = {
  startSpan(name, { attributes } = {}) {
    const span = { name, attributes: { ...attributes }, ended: false };
    spans.push(span);
    return {
      setAttribute: (key, value) => {
        span.attributes[key] = value;
      },
      setAttributes: (more) => Object.assign(span.attributes, more),
      setStatus: () => undefined,
      recordException: () => undefined,
      addEvent: () => undefined,
      isRecording: () => true,
      spanContext: () => ({ traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 }),
      end: () => {
        span.ended = true;
      },
    };
  },
};
const instrumentation = new ClaudeAgentSDKInstrumentation({ tracerProvider: { getTracer: () => tracer } });
await check(
  "OpenInference: the result comes",
  async () => (await resultOf(instrumentation.manuallyInstrument(sdk).query)) === "it says alpha",
);
const agent = spans.find(({ attributes }) => attributes["openinference.span.kind"] === "AGENT");
same("OpenInference: the words of the turn", agent?.attributes["output.value"], "it says alpha");
await check(
  "OpenInference: its session, model and cost",
  () => agent.attributes["session.id"] && agent.attributes["llm.model_name"] && agent.ended,
);
await check("OpenInference: the call as a span of its own", () =>
  spans.some(
    ({ attributes, ended }) =>
      attributes["openinference.span.kind"] === "TOOL" && attributes["tool.name"] === "Read" && ended,
  ),
);

// --- PostHog: events for a client
const events = [];
const client = {
  capture: (event) => events.push(event),
  captureImmediate: async (event) => events.push(event),
  options: {},
};
const processor = new PostHogClaudeAgentProcessor({
  client,
  onError: (error) => events.push({ event: `failed: ${error}` }),
});
await check(
  "PostHog: the result comes",
  async () => (await resultOf(processor.query.bind(processor))) === "it says alpha",
);
const named = (name) => events.filter(({ event }) => event === name);
same(
  "PostHog: nothing failed",
  events.filter(({ event }) => event.startsWith("failed")),
  [],
);
same(
  "PostHog: two replies, one call, one turn",
  ["$ai_generation", "$ai_span", "$ai_trace"].map((name) => named(name).length),
  [2, 1, 1],
);
same(
  "PostHog: what each reply used",
  named("$ai_generation").map(({ properties }) => [
    properties.$ai_input_tokens,
    properties.$ai_output_tokens,
  ]),
  [
    [100, 20],
    [100, 20],
  ],
);

// --- Braintrust: spans of a logger that keeps them
const { _exportsForTestingOnly: forTests } = braintrust;
forTests.simulateLoginForTests?.();
const logger = forTests.useTestBackgroundLogger();
braintrust.initLogger({ projectName: "others", projectId: "others" });
await check(
  "Braintrust: the result comes",
  async () => (await resultOf(braintrust.wrapClaudeAgentSDK(sdk).query)) === "it says alpha",
);
const rows = (await logger.drain?.()) ?? [];
const kinds = rows.map(({ span_attributes }) => span_attributes?.type);
await check("Braintrust: the turn, its replies and its call", () =>
  ["task", "llm", "tool"].every((kind) => kinds.includes(kind)),
);
const { metrics } = rows.find(({ span_attributes }) => span_attributes?.type === "task") ?? {};
same("Braintrust: what the turn used", [metrics?.prompt_tokens, metrics?.completion_tokens], [200, 40]);

// --- LangSmith: runs for its server, which is one of ours
const bodies = [];
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  bodies.push(
    (request.headers["content-encoding"] === "zstd"
      ? zlib.zstdDecompressSync(bytes)
      : request.headers["content-encoding"] === "gzip"
        ? zlib.gunzipSync(bytes)
        : bytes
    ).toString(),
  );
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
Object.assign(process.env, {
  LANGSMITH_TRACING: "true",
  LANGSMITH_API_KEY: "test",
  LANGSMITH_ENDPOINT: `http://127.0.0.1:${server.address().port}`,
});
const { wrapClaudeAgentSDK } = await import("langsmith/experimental/anthropic");
await check(
  "LangSmith: the result comes",
  async () => (await resultOf(wrapClaudeAgentSDK(sdk).query)) === "it says alpha",
);
await check("LangSmith: the turn and its call are told", () =>
  until(() => ["it says alpha", '"Read"'].every((words) => bodies.join("").includes(words))),
);
await check("LangSmith: with what was used", () =>
  until(() => /"output_tokens":\s*(?:20|40)/.test(bodies.join(""))),
);
server.closeAllConnections();
server.close();
process.exit();
