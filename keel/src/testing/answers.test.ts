import { describe, expect, test } from "vitest";
import { brokenOff, pieces, ScriptAnswers } from "./answers.ts";
import { viewOf } from "./read-request.ts";
import { byPosition, httpError, reply, replyWith, toolUse } from "./reply.ts";
import type { Script } from "./script.ts";

const asking = (lastUser: string, more: object = {}) => ({
  model: "test-model",
  max_tokens: 10,
  messages: [{ role: "user", content: lastUser }],
  ...more,
});

const texts = async (script: Script, ...requests: object[]) => {
  const answers = new ScriptAnswers(script);
  const given: string[] = [];
  for (const request of requests) {
    const { blocks } = await answers.next(request, viewOf(request));
    given.push(blocks.map((block) => (block.type === "text" ? block.text : block.type)).join());
  }
  return given;
};

describe("the choice of a reply", () => {
  test("goes through the replies in order, then to the last resort", async () => {
    const script = { replies: [reply("one"), reply("two")], otherwise: reply("more") };
    const request = asking("x");
    expect(await texts(script, request, request, request, request)).toEqual(["one", "two", "more", "more"]);
  });

  test("without a last resort refuses what the script did not foresee", async () => {
    const answers = new ScriptAnswers({ replies: [] });
    await expect(answers.next({}, viewOf(asking("x")))).rejects.toMatchObject({
      code: "model_bad_request",
      message: expect.stringContaining("no reply to request 1"),
    });
  });

  test("prefers rules, and uses each only as often as it says", async () => {
    const script: Script = {
      replies: [reply("in order")],
      rules: [{ when: { lastUserContains: "summary" }, reply: reply("by rule"), times: 1 }],
    };
    expect(await texts(script, asking("a summary"), asking("a summary"))).toEqual(["by rule", "in order"]);
  });

  test.each([
    ["systemContains", { systemContains: "careful" }, asking("x", { system: "be careful" })],
    ["lastUserContains", { lastUserContains: "mend" }, asking("mend it")],
    ["modelContains", { modelContains: "test" }, asking("x")],
    [
      "toolResultContains",
      { toolResultContains: "passed" },
      asking("", {
        messages: [
          { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "all passed" }] },
        ],
      }),
    ],
  ])("understands %s", async (_, when, matching) => {
    const script: Script = { replies: [], rules: [{ when, reply: reply("yes") }], otherwise: reply("no") };
    const other = asking("other", { model: "another", system: "none" });
    expect(await texts(script, matching, other)).toEqual(["yes", "no"]);
  });

  test("wants all of a condition to hold", async () => {
    const when = { lastUserContains: "mend", modelContains: "opus" };
    const script: Script = { replies: [], rules: [{ when, reply: reply("yes") }], otherwise: reply("no") };
    expect(await texts(script, asking("mend it"), asking("mend it", { model: "opus-x" }))).toEqual([
      "no",
      "yes",
    ]);
  });

  test("by position gives a repeated request the same reply", async () => {
    const answers = new ScriptAnswers(byPosition([reply("first"), reply("second")]));
    const start = asking("go");
    const later = asking("", {
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: "first" },
        { role: "user", content: "and now" },
      ],
    });
    const blocks: unknown[] = [];
    for (const request of [start, start, later])
      blocks.push((await answers.next(request, viewOf(request))).blocks[0]);
    expect(blocks).toEqual([
      { type: "text", text: "first" },
      { type: "text", text: "first" },
      { type: "text", text: "second" },
    ]);
  });
});

describe("a ready reply", () => {
  const ready = async (...given: Parameters<typeof reply>) =>
    new ScriptAnswers({ replies: [reply(...given)] }).next({}, viewOf(asking("x")));

  test("stops for calls when it has some, and at its end otherwise", async () => {
    expect((await ready("x")).stop).toBe("end");
    expect((await ready(toolUse("Read"))).stop).toBe("tool_use");
    const given = new ScriptAnswers({ replies: [replyWith({ stop: "refusal" }, "no")] });
    expect((await given.next({}, viewOf(asking("x")))).stop).toBe("refusal");
  });

  test("has ids that count and skip those that the conversation already holds", async () => {
    const used = { type: "tool_use", id: "toolu_scripted_0001", name: "Read", input: {} };
    const answers = new ScriptAnswers({
      replies: [reply(toolUse("Read"), toolUse("Read"), toolUse("Read", {}, "mine"))],
    });
    const request = asking("", { messages: [{ role: "assistant", content: [used] }] });
    const { id, blocks } = await answers.next(request, viewOf(request));
    expect(id).toBe("msg_scripted_0001");
    expect(blocks.map((block) => (block.type === "tool_use" ? block.id : ""))).toEqual([
      "toolu_scripted_0002",
      "toolu_scripted_0003",
      "mine",
    ]);
  });

  test("keeps what a script says about usage and fills in the rest", async () => {
    const answers = new ScriptAnswers({
      replies: [replyWith({ usage: { inputTokens: 7, cacheWriteLongTokens: 3 } }, "x")],
    });
    expect((await answers.next({}, viewOf(asking("x")))).usage).toEqual({
      inputTokens: 7,
      outputTokens: 20,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWriteLongTokens: 3,
    });
  });
});

describe("an HTTP error", () => {
  test("has the provider's name for its status unless it is given", () => {
    expect(httpError(529).fault).toMatchObject({ status: 529, type: "overloaded_error" });
    expect(httpError(418).fault).toMatchObject({ status: 418, type: "api_error" });
    expect(httpError(500, { type: "odd", message: "m", headers: { a: "b" } }).fault).toEqual({
      kind: "http",
      status: 500,
      type: "odd",
      message: "m",
      headers: { a: "b" },
    });
  });
});

describe("pieces of a text", () => {
  test("join to the whole and have the asked size", () => {
    expect([...pieces("abcdefg", 3)]).toEqual(["abc", "def", "g"]);
    expect([...pieces("", 3)]).toEqual([""]);
  });

  test("never cut a character in two", () => {
    expect([...pieces("a😀b😀", 2)]).toEqual(["a😀", "b😀"]);
    expect([...pieces("😀😀", 1)]).toEqual(["😀", "😀"]);
  });
});

describe("a stream that breaks off", () => {
  test.each([
    [0, []],
    [2, ["a", "b"]],
    [3, ["a", "b"]],
    [99, ["a", "b"]],
  ])("after %i of three never lets the last one through", (count, expected) => {
    expect([...brokenOff(["a", "b", "c"], count)]).toEqual(expected);
  });
});
