import { describe, expect, test } from "vitest";
import type { DurableEvent } from "../protocol/event/durable.ts";
import { text } from "../protocol/message.ts";
import type { ModelInfo, Usage } from "../protocol/usage.ts";
import { testModelInfo } from "../testing/scripted-model.ts";
import { estimateMessage } from "./context/blocks.ts";
import { requestOf, summaryRequestOf } from "./context/request.ts";
import { fold } from "./fold.ts";
import { predictRequest } from "./predict.ts";
import { emptyState, type SessionState } from "./state/state.ts";

const session = "s";
const minuteMs = 60_000;
const info: ModelInfo = { ...testModelInfo, id: "m", name: "m" };
const longPrompt = "You are careful. ".repeat(500);
const counted = (change: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  ...change,
});

/** The state after these events, one of them a minute after the other. */
function after(events: readonly DurableEvent[]): SessionState {
  return events
    .map((event, index) => ({ seq: index + 1, at: index * minuteMs, session, ...event }))
    .reduce(fold, emptyState);
}

const opened: DurableEvent = {
  type: "session.opened",
  keel: "test",
  cwd: "/",
  settings: { model: "m", permissionMode: "default", thinking: { kind: "off" } },
};
const prompt = (system: string): DurableEvent => ({
  type: "prompt.fixed",
  system: [system],
  tools: [],
  why: "first",
});
const said = (id: string, words: string): DurableEvent[] => [
  {
    type: "input.accepted",
    input: { id, content: [text(words)], from: { kind: "person" }, when: "now" },
  },
  { type: "turn.started", turnId: `t${id}`, inputIds: [id] },
];
type Started = Extract<DurableEvent, { type: "model.started" }>;
const asked = (predicted?: Started["predicted"]): Started => ({
  type: "model.started",
  requestId: "r",
  model: "m",
  purpose: "turn",
  attempt: 1,
  ...(predicted ? { predicted } : {}),
});
const answered = (usage: Partial<Usage>, words = "fine"): DurableEvent => ({
  type: "model.finished",
  requestId: "r",
  messageId: "a",
  model: "m",
  content: [text(words)],
  stop: "end",
  usage: counted(usage),
  costUsd: 0,
  ms: 1,
});

const begun = [opened, prompt(longPrompt), ...said("1", "hello"), asked()];
const once = [...begun, answered({ cacheWriteTokens: 2_200, outputTokens: 10 })];

/** The prediction for the next request of this state, so long after the last one was sent. */
function next(
  state: SessionState,
  { laterMs = minuteMs, model = info }: { laterMs?: number; model?: ModelInfo } = {},
) {
  const sentAt = (begun.length - 1) * minuteMs;
  const request = requestOf(state, { session, info: model });
  const { costUsd, ...tokens } = predictRequest(state, { request, info: model, now: sentAt + laterMs });
  return { ...tokens, costUsd };
}

describe("a prediction", () => {
  test("of the first request is that all is new and will be kept, by our own estimate", () => {
    const first = next(after(begun.slice(0, -1)));
    expect(first).toMatchObject({ inputTokens: 0, cacheReadTokens: 0 });
    expect(first.cacheWriteTokens).toBeGreaterThan(2_000);
    expect(first.cacheWriteTokens).toBeLessThan(2_300);
    expect(first.costUsd).toBeCloseTo((first.cacheWriteTokens * 3.75) / 1e6, 12);
  });

  test("of the next one reads what was kept and writes the reply and what came after it", () => {
    const state = after([...once, ...said("2", "and then?")]);
    const { costUsd, ...tokens } = next(state);
    expect(tokens).toMatchObject({ inputTokens: 0, cacheReadTokens: 2_200 });
    expect(tokens.cacheWriteTokens).toBeGreaterThanOrEqual(10 + 4);
    expect(tokens.cacheWriteTokens).toBeLessThan(30);
    expect(costUsd).toBeCloseTo((2_200 * 0.3 + tokens.cacheWriteTokens * 3.75) / 1e6, 12);
  });

  test("corrects its own estimate by how the provider counted", () => {
    const words = "x".repeat(4_000);
    const half = after([...begun, answered({ cacheWriteTokens: 1_067 }), ...said("2", words)]);
    const twice = after([...begun, answered({ cacheWriteTokens: 4_268 }), ...said("2", words)]);
    expect(next(half).cacheWriteTokens / next(twice).cacheWriteTokens).toBeCloseTo(1 / 4, 2);
  });

  test("reads nothing once the provider has forgotten", () => {
    const state = after([...once, ...said("2", "hello again")]);
    expect(next(state, { laterMs: 5 * minuteMs - 1 }).cacheReadTokens).toBe(2_200);
    const late = next(state, { laterMs: 5 * minuteMs });
    expect(late.cacheReadTokens).toBe(0);
    expect(late.cacheWriteTokens).toBeGreaterThan(2_200);
  });

  test("keeps nothing of a request that is too short, nor with a model or a server that keeps nothing", () => {
    const short = after([opened, prompt("Short."), ...said("1", "hello")]);
    expect(next(short)).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: 0 });
    const state = after([...once, ...said("2", "hello again")]);
    const shy = { ...info, leastCacheTokens: 4_096 };
    expect(next(state, { model: shy })).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: 0 });
    const plain = { ...info, abilities: { ...info.abilities, cache: false } };
    expect(next(state, { model: plain })).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: 0 });
    const local = after([
      ...begun,
      answered({ inputTokens: 2_200, outputTokens: 10 }),
      ...said("2", "again"),
    ]);
    expect(next(local)).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: 0 });
    expect(next(local).inputTokens).toBeGreaterThan(2_200);
  });

  test("has no price where none is known", () => {
    expect(next(after(once), { model: { ...info, prices: null } }).costUsd).toBeNull();
  });

  test("reads only tools and system after a compaction or a change of thinking, and nothing after a change of those", () => {
    const notes: DurableEvent = {
      type: "context.compacted",
      requestId: "r",
      trigger: "manual",
      summary: "notes",
      keep: 0,
      tokensBefore: 1,
      tokensAfter: 1,
      usage: counted({ cacheReadTokens: 2_200, cacheWriteTokens: 200 }),
      costUsd: 0,
      model: "m",
      ms: 1,
    };
    const summary: DurableEvent = { ...asked(), purpose: "compaction" };
    const compacted = after([...once, summary, notes, ...said("2", "go on")]);
    const promptTokens = next(compacted).cacheReadTokens;
    expect(promptTokens).toBeGreaterThan(2_000);
    expect(promptTokens).toBeLessThan(2_200);
    const think: DurableEvent = {
      type: "settings.changed",
      patch: { thinking: { kind: "adaptive" } },
      why: "host",
    };
    expect(next(after([...once, think, ...said("2", "go on")])).cacheReadTokens).toBe(promptTokens);
    expect(next(after([...once, prompt(`${longPrompt}!`), ...said("2", "go on")])).cacheReadTokens).toBe(0);
  });

  test("knows that another model has kept nothing, and that the first one still has it", () => {
    const other: DurableEvent = { type: "settings.changed", patch: { model: "other" }, why: "host" };
    const back: DurableEvent = { type: "settings.changed", patch: { model: "m" }, why: "host" };
    expect(next(after([...once, other])).cacheReadTokens).toBe(0);
    expect(next(after([...once, other, back])).cacheReadTokens).toBe(2_200);
  });

  test("counts on what a reply that broke off has left, and not on what a lost process left", () => {
    const predicted = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 2_150, costUsd: 0 };
    const failed = (
      code: "stream_cut" | "request_lost" | "overloaded",
      usage: Usage | null,
    ): DurableEvent => ({
      type: "model.failed",
      requestId: "r",
      model: "m",
      purpose: "turn",
      fault: { code, message: "" },
      retryable: true,
      usage,
      costUsd: null,
      ms: 1,
    });
    const tried = [...begun.slice(0, -1), asked(predicted)];
    expect(next(after([...tried, failed("stream_cut", null)])).cacheReadTokens).toBeGreaterThan(2_000);
    expect(next(after([...tried, failed("request_lost", null)])).cacheReadTokens).toBe(0);
    expect(next(after([...tried, failed("overloaded", counted({}))])).cacheReadTokens).toBe(0);
  });

  test("of a request for notes reads the conversation, or only the prompt where its start is left out", () => {
    const state = after([...once, ...said("2", "x".repeat(8_000)), ...said("3", "the last word")]);
    const ask = (maxTokens: number) => {
      const instructions = { role: "user" as const, content: [text("Write notes.")] };
      const request = summaryRequestOf(state, {
        session,
        info,
        instructions,
        maxTokens,
        estimate: estimateMessage,
      });
      return predictRequest(state, { request, info, now: begun.length * minuteMs });
    };
    expect(ask(Number.POSITIVE_INFINITY).cacheReadTokens).toBe(2_200);
    const cut = ask(100);
    expect(cut.cacheReadTokens).toBeLessThan(2_200);
    expect(cut.cacheReadTokens + cut.cacheWriteTokens).toBeLessThan(2_400);
  });
});

test("a server that counts the same for every prompt is believed for thousands of turns", () => {
  const turns = Array.from({ length: 4_000 }, (_, turn) => [
    ...said(`i${turn}`, "go"),
    asked(),
    answered({ inputTokens: 10, outputTokens: 10 }),
  ]);
  const state = after([opened, prompt(longPrompt), ...turns.flat(), ...said("last", "go")]);
  const { inputTokens, cacheReadTokens } = next(state);
  expect(Number.isFinite(inputTokens) && Number.isFinite(cacheReadTokens)).toBe(true);
});
