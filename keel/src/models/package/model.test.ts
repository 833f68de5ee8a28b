import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../../test/support/loopback.ts";
import { toFault } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { ModelEvent, ModelRequest } from "../../ports/model.ts";
import { catalog } from "../catalog.ts";
import { openHttp } from "../http.ts";
import { providersWith } from "../providers.ts";
import { packageModel } from "./model.ts";

const key = "pk-canary-0123456789abcdef";
const http = openHttp();
let server: Loopback;
let other: Loopback;
let folder: string;

/** A package that does what its `model` says; each part of its stream is in the contract of the version that is asked for. */
const source = `
exports.createProbe = ({ fetch, apiKey, baseURL, options, ...rest }) => {
  if (rest.refuses) throw new Error("no key like " + apiKey);
  return {
    languageModel(id) {
      const [version, what] = id.split(":");
      const usage = version === "v2"
        ? { inputTokens: 10, outputTokens: 4, cachedInputTokens: 3, reasoningTokens: 1 }
        : { inputTokens: { total: 10, cacheRead: 3, cacheWrite: 2 }, outputTokens: { total: 4, reasoning: 1 } };
      const finishReason = version === "v2" ? "tool-calls" : { unified: "tool-calls", raw: "tool_calls" };
      const ended = { type: "finish", usage, finishReason };
      const parts = {
        all: [
          { type: "stream-start", warnings: [] },
          { type: "response-metadata", id: "resp-1", modelId: "served" },
          { type: "reasoning-start", id: "r" },
          { type: "reasoning-delta", id: "r", delta: "Hm." },
          { type: "reasoning-end", id: "r", providerMetadata: { probe: { signature: "sealed" } } },
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: "Look" },
          { type: "text-delta", id: "t", delta: "ing." },
          { type: "text-end", id: "t" },
          { type: "tool-input-start", id: "c1", toolName: "Look" },
          { type: "tool-input-delta", id: "c1", delta: '{"at":' },
          { type: "tool-input-delta", id: "c1", delta: '"a"}' },
          { type: "tool-input-end", id: "c1" },
          { type: "tool-call", toolCallId: "c1", toolName: "Look", input: '{"at":"a"}' },
          { type: "tool-call", toolCallId: "c2", toolName: "Look", input: '{"at":"b"}', providerMetadata: { probe: { proof: 1 } } },
          ended,
        ],
        cut: [{ type: "text-delta", id: "t", delta: "half" }, { ...ended, finishReason: version === "v2" ? "unknown" : { unified: "other", raw: undefined } }],
        error: [{ type: "error", error: { message: "too many", code: "rate_limit_exceeded" } }],
        late: [ended, { type: "text-delta", id: "t", delta: "late" }],
      };
      return {
        specificationVersion: version,
        async doStream(options) {
          if (what === "deaf") return { stream: new ReadableStream({}) };
          if (what === "stuck") return new Promise(() => {});
          const body = JSON.stringify(options.prompt);
          const answer = await fetch(baseURL + "/ask", { method: "POST", headers: { authorization: "Bearer " + apiKey, "content-type": "application/json" }, body, signal: options.abortSignal });
          if (!answer.ok) throw Object.assign(new Error("it answered " + answer.status), { name: "AI_APICallError", statusCode: answer.status, responseBody: await answer.text(), responseHeaders: Object.fromEntries(answer.headers) });
          await answer.text();
          return { stream: ReadableStream.from(parts[what] ?? [ended]) };
        },
      };
    },
  };
};
`;

let status = 200;
let headers: Record<string, string> = {};
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keel-package-"));
  const place = path.join(folder, "node_modules", "probe-provider");
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, "package.json"), '{"name":"probe-provider","main":"index.js"}');
  await writeFile(path.join(place, "index.js"), source);
  const empty = path.join(folder, "node_modules", "no-provider");
  await mkdir(empty, { recursive: true });
  await writeFile(path.join(empty, "package.json"), '{"name":"no-provider","main":"index.js"}');
  await writeFile(path.join(empty, "index.js"), "exports.other = () => 1;");
  other = await loopback((response) => void response.end());
  server = await loopback((response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: `said of ${key}`, code: "x" } }));
  });
});
afterAll(async () => {
  http.close();
  await Promise.all([server.close(), other.close(), rm(folder, { recursive: true })]);
});

const request: ModelRequest = {
  model: "probe/v3:all",
  system: ["Be brief."],
  tools: [{ name: "Look", description: "Looks.", input: { type: "object" } }],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  session: "s",
};

const connect = (name = "probe-provider", options: JsonObject = {}) =>
  packageModel({
    endpoint: {
      provider: "probe",
      baseUrl: server.url,
      credential: { kind: "key", value: key },
      package: { name, folders: [folder], options },
    },
    catalog: catalog({ providers: providersWith({ probe: { npm: name } }) }),
    http: http.send,
    now: () => 0,
  });

async function eventsOf(
  asked: Partial<ModelRequest> = {},
  model = connect(),
  signal = AbortSignal.timeout(5_000),
) {
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ ...request, ...asked }, signal)) events.push(event);
  return events;
}
async function faultOf(work: Promise<unknown>) {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => toFault(error),
  );
  expect(JSON.stringify(thrown?.toData())).not.toContain("canary");
  return thrown;
}

describe.each(["v2", "v3", "v4"])("the contract %s", (version) => {
  test("is read: thinking, text, calls in pieces and whole, and what was used", async () => {
    const events = await eventsOf({ model: `probe/${version}:all` });
    const end = events.at(-1);
    expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
    expect(end).toMatchObject({
      type: "end",
      stop: "tool_use",
      providerId: "resp-1",
      usage: { outputTokens: 4, cacheReadTokens: 3, thinkingTokens: 1 },
      content: [
        { type: "thinking", text: "Hm." },
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "c1", input: { at: "a" } },
        { type: "thinking", text: "" },
        { type: "tool_use", id: "c2", input: { at: "b" } },
      ],
    });
  });

  test("gets back what it gave with a thought and with a call, and the names of tools with their results", async () => {
    const model = connect();
    const name = `probe/${version}:all`;
    const end = (await eventsOf({ model: name }, model)).at(-1);
    const content = end?.type === "end" ? end.content : [];
    const results = ["c1", "c2"].map((callId) => ({
      type: "tool_result" as const,
      callId,
      content: [{ type: "text" as const, text: "saw" }],
      failed: callId === "c2",
    }));
    await eventsOf(
      {
        model: name,
        messages: [...request.messages, { role: "assistant", content }, { role: "user", content: results }],
      },
      model,
    );
    expect(JSON.parse(server.seen.at(-1)?.body ?? "")).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { probe: { signature: "sealed" } } },
          { type: "text", text: "Looking." },
          { type: "tool-call", toolCallId: "c1", toolName: "Look", input: { at: "a" } },
          {
            type: "tool-call",
            toolCallId: "c2",
            toolName: "Look",
            input: { at: "b" },
            providerOptions: { probe: { proof: 1 } },
          },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "Look", output: { type: "text", value: "saw" } },
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "Look",
            output: { type: "error-text", value: "saw" },
          },
        ],
      },
    ]);
  });

  test.each([
    ["cut", "stream_cut"],
    ["error", "rate_limited"],
    ["late", "stream_malformed"],
  ])("that ends by %s is %s", async (what, code) => {
    expect((await faultOf(eventsOf({ model: `probe/${version}:${what}` })))?.code).toBe(code);
  });
});

describe("what goes wrong is a fault of ours", () => {
  test.each([
    ["a package that is not installed", "@ai-sdk/not-installed", {}, "package_missing"],
    ["a path in place of a name", "../../etc/passwd", {}, "package_refused"],
    ["a package that makes no provider", "no-provider", {}, "package_refused"],
    ["a package that refuses its options", "probe-provider", { refuses: true }, "package_refused"],
  ])("%s", async (_, name, options, code) => {
    expect((await faultOf(eventsOf({}, connect(name, options))))?.code).toBe(code);
  });

  test("a contract that is newer than those that are known", async () => {
    expect((await faultOf(eventsOf({ model: "probe/v9:all" })))?.code).toBe("package_refused");
  });

  test.each([
    [401, "key_refused"],
    [429, "rate_limited"],
    [500, "server_error"],
  ])("a status of %s is %s, without the key that its words held", async (answered, code) => {
    status = answered;
    try {
      expect((await faultOf(eventsOf()))?.code).toBe(code);
    } finally {
      status = 200;
    }
  });

  test("a redirect is not followed: the key goes nowhere else", async () => {
    status = 307;
    headers = { location: `${other.url}/stolen` };
    try {
      expect(await faultOf(eventsOf())).toBeDefined();
      expect(other.seen).toEqual([]);
    } finally {
      status = 200;
      headers = {};
    }
  });

  test.each(["deaf", "stuck"])(
    "a package that does not hear its signal (%s) is left behind",
    async (what) => {
      const signal = AbortSignal.timeout(100);
      expect((await faultOf(eventsOf({ model: `probe/v3:${what}` }, connect(), signal)))?.code).toBe(
        "aborted",
      );
    },
  );
});
