import { describe, expect, test } from "vitest";
import { body, post, serving } from "../../../test/support/plain-client.ts";
import { isObject } from "../kernel/json.ts";
import { text } from "../protocol/message.ts";
import { fakeClock } from "./fake-clock.ts";
import { countTokens, leastCacheTokens, lookBackBlocks, promptCache } from "./prompt-cache.ts";
import { reply } from "./reply.ts";
import { scriptedModel } from "./scripted-model.ts";
import type { MarkedBlock } from "./wires/wire.ts";

const minuteMs = 60_000;
const model = "claude-sonnet-4-5";

/** A block of so many tokens, all bytes ASCII. */
const block = (name: string, tokens: number, mark?: "5m" | "1h"): MarkedBlock => ({
  section: "messages",
  name: "user text",
  text: name.padEnd(tokens * 4, "."),
  mark,
});
const setting = (value: string): MarkedBlock => ({
  section: "thinking",
  name: "thinking",
  text: value,
  mark: undefined,
});

function cacheAt(start = 0) {
  const time = { ms: start };
  const cache = promptCache({ now: () => time.ms });
  return {
    pass: (ms: number) => {
      time.ms += ms;
    },
    /** Read, written (of it for an hour), paid in full. */
    count: (blocks: readonly MarkedBlock[], asked = model) => {
      const count = cache.count({ model: asked, blocks });
      return [
        count.cacheReadTokens,
        count.cacheWriteTokens,
        count.cacheWriteLongTokens ?? 0,
        count.inputTokens,
      ];
    },
  };
}

describe("the simulated cache", () => {
  test("writes up to the last mark, reads it the next time, and leaves the rest to be paid in full", () => {
    const { count } = cacheAt();
    const start = [block("a", 1_000), block("b", 500, "5m")];
    expect(count([...start, block("c", 70)])).toEqual([0, 1_500, 0, 70]);
    expect(count([...start, block("c", 70)])).toEqual([1_500, 0, 0, 70]);
    expect(count([...start, block("c", 70), block("d", 30, "5m")])).toEqual([1_500, 100, 0, 0]);
  });

  test("keeps and reads nothing without a mark", () => {
    const { count } = cacheAt();
    expect(count([block("a", 2_000)])).toEqual([0, 0, 0, 2_000]);
    count([block("a", 2_000, "5m")]);
    expect(count([block("a", 2_000)])).toEqual([0, 0, 0, 2_000]);
  });

  test("reads nothing after the block that differs, and nothing of another model", () => {
    const { count } = cacheAt();
    count([block("a", 1_500, "5m"), block("b", 500, "5m")]);
    expect(count([block("a", 1_500, "5m"), block("other", 500, "5m")])).toEqual([1_500, 500, 0, 0]);
    expect(count([block("x", 1_500, "5m"), block("b", 500, "5m")])).toEqual([0, 2_000, 0, 0]);
    expect(count([block("a", 1_500, "5m")], "claude-sonnet-5")).toEqual([0, 1_500, 0, 0]);
  });

  test.each([
    ["claude-sonnet-4-5", 1_024],
    ["claude-sonnet-4-6", 2_048],
    ["claude-haiku-4-5-20251001", 4_096],
    ["claude-opus-5", 512],
    ["claude-opus-5-5", 1_024],
    ["anything", 1_024],
  ])("keeps for %s nothing that is shorter than %i tokens", (name, least) => {
    const { count } = cacheAt();
    expect(leastCacheTokens(name)).toBe(least);
    expect(count([block("a", least - 1, "5m")], name)).toEqual([0, 0, 0, least - 1]);
    expect(count([block("a", least - 1, "5m")], name)).toEqual([0, 0, 0, least - 1]);
    expect(count([block("a", least - 1, "5m"), block("b", 1, "5m")], name)).toEqual([0, least, 0, 0]);
    expect(count([block("a", least - 1, "5m"), block("b", 1, "5m")], name)).toEqual([least, 0, 0, 0]);
  });

  test("looks back over 20 blocks from a mark and no further; a second mark on the way finds it again", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => block(`m${index}`, 10));
    const near = cacheAt();
    near.count([block("a", 2_000, "5m")]);
    const within = many(lookBackBlocks - 2);
    expect(near.count([block("a", 2_000), ...within, block("z", 10, "5m")])).toEqual([2_000, 190, 0, 0]);

    const far = cacheAt();
    far.count([block("a", 2_000, "5m")]);
    const beyond = many(lookBackBlocks - 1);
    expect(far.count([block("a", 2_000), ...beyond, block("z", 10, "5m")])).toEqual([0, 2_200, 0, 0]);
    const marked = [block("a", 2_000, "5m"), ...many(40), block("y", 10, "5m")];
    expect(far.count(marked)).toEqual([2_000, 410, 0, 0]);
  });

  test("forgets after five minutes without use; each use starts them anew", () => {
    const { count, pass } = cacheAt();
    const blocks = [block("a", 2_000, "5m")];
    count(blocks);
    for (const _ of [1, 2, 3]) {
      pass(4 * minuteMs);
      expect(count(blocks)).toEqual([2_000, 0, 0, 0]);
    }
    pass(5 * minuteMs);
    expect(count(blocks)).toEqual([0, 2_000, 0, 0]);
  });

  test("reading a long start also keeps the shorter ones alive that are marked in it", () => {
    const { count, pass } = cacheAt();
    const prompt = block("a", 2_000, "5m");
    count([prompt, block("b", 100, "5m")]);
    pass(4 * minuteMs);
    count([prompt, block("b", 100, "5m")]);
    pass(4 * minuteMs);
    expect(count([prompt, block("other", 100, "5m")])).toEqual([2_000, 100, 0, 0]);
  });

  test("keeps for an hour what is marked so, and tells the two kinds of writing apart", () => {
    const { count, pass } = cacheAt();
    const blocks = [block("a", 2_000, "1h"), block("b", 300, "5m")];
    expect(count(blocks)).toEqual([0, 2_300, 2_000, 0]);
    pass(59 * minuteMs);
    expect(count(blocks)).toEqual([2_000, 300, 0, 0]);
    pass(60 * minuteMs);
    expect(count(blocks)).toEqual([0, 2_300, 2_000, 0]);
  });

  test("takes messages for new when the way to think has changed, but not what stands before them", () => {
    const { count } = cacheAt();
    const request = (mode: string) => [block("system", 1_500, "5m"), setting(mode), block("talk", 500, "5m")];
    expect(count(request("off"))).toEqual([0, 2_000, 0, 0]);
    expect(count(request("on"))).toEqual([1_500, 500, 0, 0]);
    expect(count(request("off"))).toEqual([2_000, 0, 0, 0]);
  });

  test("counts a quarter of the bytes, and a picture at a flat rate", () => {
    expect([countTokens("four"), countTokens("fours"), countTokens("äöüß")]).toEqual([1, 2, 2]);
    expect(countTokens(`{"data":"${"iVBORw0K".repeat(1_000)}"}`)).toBe(1_501);
  });
});

describe("usage", () => {
  const marked = (words: string) => ({
    messages: [
      {
        role: "user",
        content: [{ type: "text", text: words, cache_control: { type: "ephemeral", ttl: "1h" } }],
      },
    ],
  });

  test("over HTTP says what the simulated cache counted, in the provider's fields, on the given clock", async () => {
    const { serve, close } = serving();
    const clock = fakeClock();
    const server = await serve(
      { replies: [], otherwise: reply("fine") },
      { cache: "simulated", now: clock.now },
    );
    const usage = async () => {
      const answer: unknown = await (await post(server, body(marked("word ".repeat(1_000))))).json();
      return isObject(answer) ? answer["usage"] : undefined;
    };
    const tokens = countTokens(`user text {"type":"text","text":"${"word ".repeat(1_000)}"}`);
    const outputTokens = countTokens('assistant text {"type":"text","text":"fine"}');
    expect(await usage()).toEqual({
      input_tokens: 0,
      output_tokens: outputTokens,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: tokens,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: tokens },
    });
    await clock.advance(59 * minuteMs);
    expect(await usage()).toMatchObject({ cache_read_input_tokens: tokens, cache_creation_input_tokens: 0 });
    await clock.advance(61 * minuteMs);
    expect(await usage()).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: tokens });
    await close();
  });

  test("of a request that is refused is what the script says, and nothing is kept of it", async () => {
    const { serve, close } = serving();
    const busy = { kind: "http" as const, status: 529, type: "overloaded_error", message: "busy" };
    const server = await serve(
      { replies: [{ blocks: [], fault: busy }], otherwise: reply("fine") },
      { cache: "simulated", now: () => 0 },
    );
    await post(server, body(marked("word ".repeat(1_000))));
    const second: unknown = await (await post(server, body(marked("word ".repeat(1_000))))).json();
    expect(second).toMatchObject({ usage: { cache_read_input_tokens: 0 } });
    await close();
  });

  test("of the model in memory is counted in the same way", async () => {
    const clock = fakeClock();
    const scripted = scriptedModel({ replies: [], otherwise: reply("fine") }, { cache: "simulated", clock });
    const request = {
      session: "s",
      model,
      system: ["word ".repeat(1_000)],
      tools: [],
      messages: [{ role: "user" as const, content: [text("hello")] }],
      maxOutputTokens: 100,
      thinking: { kind: "off" as const },
    };
    const counted = async () => {
      const events = await Array.fromAsync(scripted.stream(request, new AbortController().signal));
      const end = events.at(-1);
      return end?.type === "end" ? end.usage : undefined;
    };
    const first = await counted();
    expect(first).toMatchObject({ cacheReadTokens: 0, inputTokens: 0 });
    expect(first?.cacheWriteTokens).toBeGreaterThan(1_250);
    expect(await counted()).toMatchObject({ cacheReadTokens: first?.cacheWriteTokens, cacheWriteTokens: 0 });
  });
});
