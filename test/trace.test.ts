// Spans as a projection of the log: the same sums as the bill, the same ids again, nothing of what was said.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendTrace, writeTrace } from "../keel/src/app/time/trace-session.ts";
import { fold } from "../keel/src/core/fold.ts";
import { emptyState } from "../keel/src/core/state/state.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { traceIdOf } from "../keel/src/protocol/trace.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { otlpMetrics, otlpTraces } from "../keel/src/time/trace/otlp.ts";
import { tracePage } from "../keel/src/time/trace/page.ts";
import { spansOf, type TraceSpan } from "../keel/src/time/trace/spans.ts";
import { sumsOf } from "../keel/src/time/trace/sums.ts";
import { simulate } from "./simulation/run.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };
const options = { providerOf: () => "simulated" };

const logsOf = async (number: number): Promise<Durable[][]> =>
  [...(await simulate(number)).logs.values()].map((lines) => lines.map((line): Durable => JSON.parse(line)));

/** What every span of its kind must have, and all that it may have of the conventions: the registry of 1.41. */
const required: Readonly<Record<string, readonly string[]>> = {
  chat: ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"],
  execute_tool: ["gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id"],
  invoke_agent: ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.agent.name"],
  ask: [],
};
const known = new Set([
  ...Object.values(required).flat(),
  "gen_ai.conversation.id",
  "gen_ai.response.id",
  "gen_ai.response.model",
  "gen_ai.response.finish_reasons",
  "gen_ai.tool.type",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.usage.cache_creation.input_tokens",
  "gen_ai.usage.reasoning.output_tokens",
]);

describe("the spans of a session", () => {
  test("add up to its bill exactly, have what they must, and each has its parent", patience, async () => {
    verifies("P31");
    const first = seed();
    for (let offset = 0; offset < countOf("traced-sessions"); offset++)
      for (const events of await logsOf(first + offset)) {
        const spans = spansOf({ events, agents: [] }, options);
        const own = events.filter(({ type }) => type !== "task.changed");
        const { bill } = own.reduce(fold, emptyState);
        const { costUsd, ...sums } = sumsOf(spans);
        const {
          inputTokens,
          outputTokens,
          cacheReadTokens,
          cacheWriteTokens,
          thinkingTokens = 0,
        } = bill.usage;
        expect(sums).toEqual({
          inputTokens,
          outputTokens,
          cacheReadTokens,
          cacheWriteTokens,
          thinkingTokens,
        });
        expect(costUsd).toBe(bill.costUsd);
        expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
        for (const span of spans) expectWellMade(span);
        const ids = new Set(spans.map(({ spanId }) => spanId));
        const open =
          events.some(({ type }) => type === "turn.started") &&
          !events.some(({ type }) => type === "turn.finished");
        if (!open) {
          const orphans = spans.filter(({ parentId }) => parentId !== undefined && !ids.has(parentId));
          // Only those of a turn that has not ended yet.
          const last = events.findLast(({ type }) => type === "turn.started" || type === "turn.finished");
          if (last?.type === "turn.finished") expect(orphans).toEqual([]);
        }
      }
  });

  test("are the same again from a part of the log, so that a crash loses none and none comes twice", async () => {
    const [events = []] = await logsOf(seed());
    const whole = new Map(spansOf({ events, agents: [] }, options).map((span) => [span.spanId, span]));
    for (let length = 1; length <= events.length; length++)
      for (const span of spansOf({ events: events.slice(0, length), agents: [] }, options))
        expect(span).toEqual(whole.get(span.spanId));
  });

  test("of a turn with a call, a question and an agent are one trace, and say nothing of what was said", async () => {
    const secret = "hunter2-the-secret-path";
    const { home, options: open } = await scriptedHome((_, { lastUser }) =>
      lastUser.includes("part one")
        ? reply("An agent's words.")
        : lastUser.includes("begin")
          ? reply(
              "",
              toolUse("Agent", { description: secret, prompt: "part one", run_in_background: false }),
              toolUse("Write", { file_path: `${secret}.txt`, content: secret }),
            )
          : reply(secret),
    );
    const session = await home.open(open);
    agree(session);
    const ended = Promise.withResolvers<void>();
    session.onEvent(
      (event) => event.type === "turn.finished" && event.session === session.id && ended.resolve(),
    );
    await say(session, `begin ${secret}`);
    await ended.promise;
    await session.close("ended");
    const place = { ...open, sessions: home.sessions };
    const wish = { id: session.id, version: "0", names: undefined };
    const text = await writeTrace(place, wish, "otlp");
    expect(text).not.toContain(secret);
    const spans = JSON.parse(text).resourceSpans[0].scopeSpans[0].spans;
    expect(new Set(spans.map(({ traceId }: { traceId: string }) => traceId)).size).toBe(1);
    const tree = treeOf(spans);
    expect(tree).toMatch(/^invoke_agent keel\n {2}chat /);
    expect(tree).toMatch(/ {4}execute_tool Agent\n(?: {6}ask .*\n)* {6}invoke_agent \S+\n {8}chat /);
    expect(tree).toMatch(/ {4}execute_tool Write\n {6}ask permission\n/);
    const page = await writeTrace(place, wish, "page");
    expect(page).not.toContain(secret);
    expect(page).not.toMatch(/<script|src=|href=|https?:/);
    const traced = await writeTrace(
      {
        ...place,
        env: { ...open.env, TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
      },
      wish,
      "otlp",
    );
    const [outer] = JSON.parse(traced).resourceSpans[0].scopeSpans[0].spans.filter(
      ({ parentSpanId }: { parentSpanId: string }) => parentSpanId === "b7ad6b7169203331",
    );
    expect(outer.traceId).toBe("0af7651916cd43dd8448eb211c80319c");

    const bodies = await collected(async (url) => {
      expect(await sendTrace(place, wish, url)).toBe(spans.length);
    });
    expect(Object.keys(bodies)).toEqual(["/v1/traces", "/v1/metrics"]);
    expect(bodies["/v1/traces"]).toEqual(JSON.parse(text));
    await expect(sendTrace(place, wish, "http://127.0.0.1:9")).rejects.toMatchObject({ code: "unreachable" });
  });
});

describe("OTLP", () => {
  const span: TraceSpan = {
    traceId: traceIdOf("0193f0a0-0000-7000-8000-000000000001"),
    spanId: "00000000000000aa",
    parentId: undefined,
    name: "chat m",
    kind: "client",
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_000_500,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "m",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 3,
      "keel.cost_usd": 1,
    },
  };

  test.each(["1.41", "genai-main"] as const)("is written as the conventions %s say it", (names) => {
    const how = { version: "0", names };
    const golden = path.join(import.meta.dirname, `golden/traces/${names}.json`);
    const written = { traces: otlpTraces([span], how), metrics: otlpMetrics([span], how) };
    expect(JSON.parse(JSON.stringify(written))).toEqual(JSON.parse(readFileSync(golden, "utf8")));
  });

  test("a page escapes what a model is called", () => {
    const page = tracePage([{ ...span, name: "chat <script>alert(1)</script>" }], "<b>");
    expect(page).not.toContain("<script>");
    expect(page).not.toContain("<b>");
  });
});

function expectWellMade({ name, traceId, spanId, startMs, endMs, attributes, error }: TraceSpan): void {
  const [kind = ""] = name.split(" ");
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(endMs).toBeGreaterThanOrEqual(startMs);
  expect(Object.keys(required)).toContain(kind);
  for (const attribute of required[kind] ?? []) expect(attributes).toHaveProperty([attribute]);
  expect(Object.keys(attributes).filter((key) => key.startsWith("gen_ai.") && !known.has(key))).toEqual([]);
  expect(attributes["error.type"]).toBe(error);
}

type OtlpSpan = { readonly name: string; readonly spanId: string; readonly parentSpanId?: string };

const treeOf = (spans: readonly OtlpSpan[], parent?: string, depth = 0): string =>
  spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .map(({ name, spanId }) => `${"  ".repeat(depth)}${name}\n${treeOf(spans, spanId, depth + 1)}`)
    .join("");

/** What a collector on the loopback is sent meanwhile, by path. */
async function collected(work: (url: string) => Promise<void>): Promise<Record<string, unknown>> {
  const bodies: Record<string, unknown> = {};
  const server = createServer(async (request, response) => {
    const parts = await Array.fromAsync(request);
    bodies[request.url ?? ""] = JSON.parse(Buffer.concat(parts).toString());
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  await work(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
  return bodies;
}
