import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message } from "../../protocol/message.ts";
import { violationsIn } from "../../testing/request-rules.ts";
import { chatView } from "../../testing/wires/openai-view.ts";
import { catalog } from "../catalog.ts";
import { chatEncoder } from "./encode.ts";
import { toolNames } from "./names.ts";
import { serverTraitsMemory, traitsFor } from "./traits.ts";

const models = catalog({ extra: [{ id: "openai/sighted", abilities: { images: true } }] });
const local = { baseUrl: "http://127.0.0.1:11434/v1" };

const user = (...content: Block[]): Message => ({ role: "user", content });
const assistant = (...content: Block[]): Message => ({ role: "assistant", content });
const text = (value: string): Block => ({ type: "text", text: value });
const use = (id: string, input = {}): Block => ({ type: "tool_use", id, name: "Read", input });
const image: Block = { type: "image", mediaType: "image/png", data: "AAAA" };
const result = (callId: string, ...content: Extract<Block, { type: "tool_result" }>["content"]): Block => ({
  type: "tool_result",
  callId,
  failed: false,
  content,
});
const done = (callId: string) => result(callId, { type: "text", text: "done" });

function requestOf(parts: Partial<ModelRequest>): ModelRequest {
  return {
    model: "sighted",
    system: [],
    tools: [],
    messages: [user(text("hi"))],
    maxOutputTokens: 8_000,
    thinking: { kind: "off" },
    session: "s-1",
    ...parts,
  };
}

type Wire = Record<string, unknown>;
type Place = { readonly baseUrl: string };

function bytesOf(parts: Partial<ModelRequest>, encode = chatEncoder(), place: Place = local): string {
  const request = requestOf(parts);
  const { body } = encode(request, models.info(`openai/${request.model}`), traitsFor(request.model, place));
  return new TextDecoder().decode(body);
}

const bodyOf = (parts: Partial<ModelRequest>, place: Place = local): Wire =>
  JSON.parse(bytesOf(parts, chatEncoder(), place));
const messagesOf = (...messages: Message[]) => bodyOf({ messages })["messages"];

describe("a body", () => {
  test("holds model, limit, tools and messages as the wire wants them", () => {
    const tool = { name: "Read", description: "Reads", input: { type: "object" } };
    expect(bodyOf({ system: ["Be brief.", " ", "Be kind."], tools: [tool] })).toEqual({
      model: "sighted",
      max_tokens: 8_000,
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        {
          type: "function",
          function: { name: "Read", description: "Reads", parameters: { type: "object" } },
        },
      ],
      messages: [
        { role: "system", content: "Be brief.\n\nBe kind." },
        { role: "user", content: "hi" },
      ],
    });
  });

  test("is whole JSON also without any message", () => {
    expect(bodyOf({ messages: [] })).toMatchObject({ messages: [] });
  });

  test("has OpenAI's own names for OpenAI's own address", () => {
    const place = { baseUrl: "https://api.openai.com/v1" };
    expect(bodyOf({ model: "gpt-4.1" }, place)).toMatchObject({
      max_completion_tokens: 8_000,
      prompt_cache_key: "s-1",
    });
    expect(bodyOf({ model: "gpt-4.1" }, place)).not.toHaveProperty("max_tokens");
    expect(bodyOf({ model: "gpt-4.1" })).not.toHaveProperty("prompt_cache_key");
  });

  test("says how much to think only to models that take it, in the levels that they take", () => {
    const effort = (model: string, wanted: string | undefined, tools: ModelRequest["tools"] = []) =>
      bodyOf({ model, effort: wanted, tools })["reasoning_effort"];
    const tool = [{ name: "Read", description: "", input: { type: "object" } }];
    expect(effort("qwen3", "high")).toBeUndefined();
    expect(effort("gpt-4.1", "high")).toBeUndefined();
    expect(effort("gpt-5", "max")).toBe("high");
    expect(effort("gpt-5.2", "max")).toBe("xhigh");
    expect(effort("gpt-5", undefined)).toBeUndefined();
    expect(effort("gpt-6-sol", "low")).toBe("low");
    // With tools the newest ones must not think on this wire.
    expect(effort("gpt-6-sol", "low", tool)).toBe("none");
    expect(effort("openai/gpt-6-sol-2026-09-22", undefined, tool)).toBe("none");
  });
});

describe("messages", () => {
  test("put results directly behind their calls, each as a message, and what the user adds behind them", () => {
    expect(
      messagesOf(
        user(text("go")),
        assistant(text("I read."), use("c1", { path: "a" }), use("c2")),
        user(done("c1"), done("c2"), text("and now")),
      ),
    ).toEqual([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "I read.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "Read", arguments: '{"path":"a"}' } },
          { id: "c2", type: "function", function: { name: "Read", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
      { role: "tool", tool_call_id: "c2", content: "done" },
      { role: "user", content: "and now" },
    ]);
  });

  test("of one role that follow each other are one, and what is left empty does not part them", () => {
    expect(
      messagesOf(
        user(text("a")),
        user(text("b"), text("  ")),
        assistant({ type: "thinking", text: "hm" }),
        user(text("c")),
        assistant(text("d")),
        assistant(use("c1")),
        user(done("c1")),
      ),
    ).toEqual([
      { role: "user", content: "a\n\nb\n\nc" },
      { role: "assistant", content: "d", tool_calls: [expect.objectContaining({ id: "c1" })] },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ]);
  });

  test("without text say so with null", () => {
    expect(messagesOf(assistant(use("c1")))).toEqual([expect.objectContaining({ content: null })]);
  });

  test("keep a call that was not JSON as one without input", () => {
    expect(
      messagesOf(assistant({ type: "tool_use", id: "c1", name: "Read", input: {}, broken: '{"a' })),
    ).toEqual([
      expect.objectContaining({
        tool_calls: [expect.objectContaining({ function: { name: "Read", arguments: "{}" } })],
      }),
    ]);
  });

  test("say by words what this wire has no mark for: a failure, and nothing at all", () => {
    const failed = (...content: Extract<Block, { type: "tool_result" }>["content"]): Block => ({
      type: "tool_result",
      callId: "c1",
      failed: true,
      content,
    });
    const said = (block: Block) => (messagesOf(user(block)) as Wire[])[0]?.["content"];
    expect(said(failed({ type: "text", text: "no such file" }))).toBe("Error: no such file");
    expect(said(failed())).toMatch(/^Error: ./);
    expect(said(result("c1"))).toBe("(no output)");
  });

  test("hold images as data, those of a result behind all results", () => {
    expect(
      messagesOf(
        user(
          result(
            "c1",
            { type: "text", text: "taken" },
            { type: "image", mediaType: "image/png", data: "AAAA" },
          ),
          done("c2"),
          text("see"),
        ),
      ),
    ).toEqual([
      { role: "tool", tool_call_id: "c1", content: "taken\n[An image, which follows below.]" },
      { role: "tool", tool_call_id: "c2", content: "done" },
      {
        role: "user",
        content: [
          { type: "text", text: "[The image in the result of the call c1:]" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "text", text: "see" },
        ],
      },
    ]);
  });

  test("name what the model cannot read instead of failing", () => {
    const blind = (...messages: Message[]) => bodyOf({ model: "blind", messages })["messages"];
    expect(blind(user(image))).toEqual([
      { role: "user", content: expect.stringMatching(/image\/png.*left out/) },
    ]);
    expect(blind(user(result("c1", { type: "image", mediaType: "image/png", data: "AAAA" })))).toEqual([
      { role: "tool", tool_call_id: "c1", content: expect.stringMatching(/left out/) },
    ]);
    const document = (mediaType: string): Block => ({
      type: "document",
      mediaType,
      data: Buffer.from("the words").toString("base64"),
      name: "a.txt",
    });
    expect(messagesOf(user(document("text/plain")))).toEqual([
      { role: "user", content: "[The document a.txt:]\nthe words" },
    ]);
    expect(messagesOf(user(document("application/pdf")))).toEqual([
      { role: "user", content: expect.stringMatching(/a\.txt.*left out/) },
    ]);
  });

  test("replace half a surrogate pair, which is no Unicode, and keep a whole one", () => {
    expect(messagesOf(user(text("a\ud800b \\ud800 😀")))).toEqual([
      { role: "user", content: "a\ufffdb \\ud800 😀" },
    ]);
    expect(JSON.stringify(messagesOf(assistant(use("c1", { p: "\udfff" }))))).toContain("\ufffd");
  });
});

describe("names and ids that are too long", () => {
  const longId = `call_${"x".repeat(60)}`;
  const longName = `mcp__${"server".repeat(12)}__tool`;

  test("are shortened, the same in a call and its result, and stay different", () => {
    const [asked, answered] = messagesOf(
      assistant(use(longId), use(`${longId}y`)),
      user(done(longId), done(`${longId}y`)),
    ) as [Wire, Wire];
    const ids = (asked["tool_calls"] as Wire[]).map(({ id }) => String(id));
    expect(answered["tool_call_id"]).toBe(ids[0]);
    expect(ids[0]).not.toBe(ids[1]);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(40);
  });

  test("of tools find back to the tool", () => {
    const tools = [{ name: longName, description: "", input: { type: "object" } }];
    const [tool] = bodyOf({ tools })["tools"] as { function: { name: string } }[];
    expect(tool?.function.name.length).toBe(64);
    expect(toolNames(tools)(tool?.function.name ?? "")).toBe(longName);
    expect(toolNames(tools)("Read")).toBe("Read");
  });
});

describe("laws", () => {
  const conversation = [
    user(text("go")),
    assistant(text("I read."), use("c1", { path: "ä".repeat(100) }), use("c2")),
    user(done("c1"), done("c2")),
    assistant({ type: "thinking", text: "hm" }, text("and again"), use("c3")),
    user(result("c3", { type: "image", mediaType: "image/png", data: "AAAA" }), text("look")),
    assistant(text("done")),
    user(text("thanks")),
  ];
  const tools = [{ name: "Read", description: "", input: { type: "object" } }];

  test("what was sent before stays byte for byte, and every turn is one that the provider takes", () => {
    const encode = chatEncoder();
    let before = "";
    for (let count = 1; count <= conversation.length; count += 2) {
      const body = bytesOf({ messages: conversation.slice(0, count), system: ["s"], tools }, encode);
      expect(body.startsWith(before)).toBe(true);
      expect(violationsIn(chatView(JSON.parse(body)))).toEqual([]);
      before = body.slice(0, -"]}".length);
    }
  });

  test("a message is written once, whoever asks: its object is not looked at again", () => {
    const encode = chatEncoder();
    let reads = 0;
    const watched: Message = {
      role: "user",
      get content() {
        reads += 1;
        return [text("hi")];
      },
    };
    const messages = [watched];
    const first = bytesOf({ messages }, encode);
    const readsOfOne = reads;
    expect(bytesOf({ messages }, encode)).toBe(first);
    expect(reads).toBe(readsOfOne);
  });

  test("a model that sees and one that does not get each their own writing of an image", () => {
    const encode = chatEncoder();
    const messages = [user(image)];
    expect(bytesOf({ model: "blind", messages }, encode)).toContain("left out");
    expect(bytesOf({ model: "sighted", messages }, encode)).toContain("data:image/png");
  });
});

describe("what a server refuses is learnt once", () => {
  const refusals: [string, unknown, object][] = [
    [
      "the wish for a count",
      { detail: [{ loc: ["body", "stream_options", "include_usage"], msg: "Extra inputs" }] },
      { countsTokens: false },
    ],
    [
      "the older limit",
      {
        message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        param: "max_tokens",
      },
      { limit: "max_completion_tokens" },
    ],
    [
      "thinking beside tools",
      {
        message: "Function tools with reasoning_effort are not supported. Set reasoning_effort to 'none'.",
        param: "reasoning_effort",
      },
      { effort: { kind: "none" } },
    ],
  ];

  test.each(refusals)("%s", (_, error, lesson) => {
    const manners = serverTraitsMemory(local);
    expect(manners.learn("m", error)).toBe(true);
    expect(manners.traits("m")).toMatchObject(lesson);
  });

  test("and not a second time, so that nothing goes in circles", () => {
    const manners = serverTraitsMemory(local);
    const about = (param: string) => ({ message: "no", param });
    expect(manners.learn("m", about("max_tokens"))).toBe(true);
    expect(manners.learn("m", about("max_completion_tokens"))).toBe(false);
    expect(manners.learn("m", about("stream_options"))).toBe(true);
    expect(manners.learn("m", about("stream_options"))).toBe(false);
    expect(manners.learn("m", { message: "something else" })).toBe(false);
  });

  test("for the server where it is the server, and for the model where it is the model", () => {
    const manners = serverTraitsMemory(local);
    manners.learn("a", { message: "no", param: "stream_options" });
    manners.learn("a", { message: "no", param: "max_tokens" });
    expect(manners.traits("b")).toMatchObject({ countsTokens: false, limit: "max_tokens" });
  });
});
