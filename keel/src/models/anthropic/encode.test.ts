import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message } from "../../protocol/message.ts";
import { catalog } from "../catalog.ts";
import { messagesEncoder } from "./encode.ts";

const models = catalog({
  extra: [
    { id: "no-cache", abilities: { cache: false } },
    { id: "sighted", abilities: { images: true } },
  ],
});

const user = (...content: Block[]): Message => ({ role: "user", content });
const assistant = (...content: Block[]): Message => ({ role: "assistant", content });
const text = (value: string): Block => ({ type: "text", text: value });
const use = (id: string, input = {}): Block => ({ type: "tool_use", id, name: "Read", input });
const result = (callId: string, value = "done"): Block => ({
  type: "tool_result",
  callId,
  failed: false,
  content: [{ type: "text", text: value }],
});

function requestOf(parts: Partial<ModelRequest>): ModelRequest {
  return {
    model: "claude-sonnet-4-5",
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

/** The body that the encoder writes, parsed. */
function bodyOf(parts: Partial<ModelRequest>, encode = messagesEncoder()): Wire {
  const request = requestOf(parts);
  const body: Wire = JSON.parse(
    Buffer.concat(encode(request, models.info(request.model)).body).toString("utf8"),
  );
  return body;
}

function messagesOf(body: Wire): { role: string; content: Wire[] }[] {
  return body["messages"] as { role: string; content: Wire[] }[];
}

/** Everything in the order in which the provider keeps it: tools, system, messages block by block. */
function blocksOf(body: Wire): string[] {
  const parts = [...((body["tools"] as Wire[]) ?? []), ...((body["system"] as Wire[]) ?? [])];
  const said = messagesOf(body).flatMap(({ role, content }) => content.map((block) => ({ role, block })));
  return [...parts, ...said].map((part) => JSON.stringify(part));
}

const withoutMarks = (block: string): string => block.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
const marksIn = (body: Wire): number =>
  blocksOf(body).filter((block) => block.includes("cache_control")).length;

describe("a body", () => {
  test("holds model, limits, tools, system and messages in the provider's order", () => {
    const tool = { name: "Read", description: "Reads", input: { type: "object" } };
    expect(bodyOf({ system: ["Be brief.", ""], tools: [tool] })).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 8_000,
      stream: true,
      metadata: { user_id: "s-1" },
      tools: [{ name: "Read", description: "Reads", input_schema: { type: "object" } }],
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
      ],
    });
  });

  test("joins neighbours of one role, and messages of which nothing is left do not part them", () => {
    const body = bodyOf({
      messages: [
        user(text("a")),
        user(text("b"), text("  ")),
        assistant({ type: "thinking", text: "unsigned" }, text("")),
        user(text("c")),
        assistant(text("d")),
        user(text("e")),
      ],
    });
    const said = messagesOf(body).map(({ role, content }) => [
      role,
      ...content.map((block) => block["text"]),
    ]);
    expect(said).toEqual([
      ["user", "a", "b", "c"],
      ["assistant", "d"],
      ["user", "e"],
    ]);
  });

  test("is whole JSON also without any message", () => {
    expect(bodyOf({ messages: [] })).toMatchObject({ messages: [] });
  });

  test("replaces half a surrogate pair, which is no Unicode, and keeps a whole one", () => {
    const body = bodyOf({
      messages: [user(text("a\ud800b \\ud800 😀")), assistant(use("1", { p: "\udfff" }))],
    });
    expect(messagesOf(body)[0]?.content[0]?.["text"]).toBe("a\ufffdb \\ud800 😀");
    expect(messagesOf(body)[1]?.content[0]?.["input"]).toEqual({ p: "\ufffd" });
  });
});

describe("a call that another provider's model made", () => {
  test("has an id that this wire takes, the same in the call and in its result", () => {
    const [asked, answered] = messagesOf(
      bodyOf({
        messages: [
          assistant(use("functions.Read:0"), use("functions.Read:1")),
          user(result("functions.Read:0"), result("functions.Read:1")),
        ],
      }),
    );
    const ids = asked?.content.map(({ id }) => String(id)) ?? [];
    expect(answered?.content.map(({ tool_use_id }) => tool_use_id)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });
});

describe("a block", () => {
  const one = (block: Block, model = "claude-sonnet-4-5"): Wire | undefined =>
    messagesOf(bodyOf({ model, messages: [user(block)] }))[0]?.content.map(
      ({ cache_control: _, ...rest }) => rest,
    )[0];

  test("of an image is base64 with its type", () => {
    expect(one({ type: "image", mediaType: "image/png", data: "aGk=" })).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "aGk=" },
    });
  });

  test("of an image that the model cannot read is named instead, so that the session goes on", () => {
    const image: Block = { type: "image", mediaType: "image/png", data: "aGk=" };
    const picture: Block = { type: "image", mediaType: "image/tiff", data: "aGk=" };
    expect(one(image, "text-only")).toMatchObject({
      type: "text",
      text: expect.stringContaining("image/png"),
    });
    expect(one(picture)).toMatchObject({ type: "text", text: expect.stringContaining("image/tiff") });
  });

  test("of a document is a PDF as it is, text as text, and anything else named", () => {
    expect(one({ type: "document", mediaType: "application/pdf", data: "JVBE", name: "a.pdf" })).toEqual({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBE" },
      title: "a.pdf",
    });
    const note = Buffer.from("é").toString("base64");
    expect(one({ type: "document", mediaType: "text/markdown", data: note })).toEqual({
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "é" },
    });
    expect(one({ type: "document", mediaType: "application/zip", data: "UEs=" })).toMatchObject({
      type: "text",
    });
  });

  test("of thinking goes back with its proof, hidden or not, and is dropped without one", () => {
    expect(one({ type: "thinking", text: "hm", signature: "sig" })).toEqual({
      type: "thinking",
      thinking: "hm",
      signature: "sig",
    });
    expect(one({ type: "thinking", text: "", hidden: "xyz" })).toEqual({
      type: "redacted_thinking",
      data: "xyz",
    });
    expect(one({ type: "thinking", text: "hm" })).toBeUndefined();
  });

  test("of thinking goes back only to the model that wrote it, also when it was written before", () => {
    const encode = messagesEncoder();
    const thought: Block = { type: "thinking", text: "hm", signature: "sig", model: "claude-sonnet-4-5" };
    const messages = [user(text("hi")), assistant(thought, text("yes")), user(text("go on"))];
    const typesFor = (model: string) =>
      messagesOf(bodyOf({ model, messages }, encode))[1]?.content.map(({ type }) => type);

    expect(typesFor("claude-sonnet-4-5")).toEqual(["thinking", "text"]);
    expect(typesFor("claude-haiku-4-5")).toEqual(["text"]);
    expect(typesFor("claude-sonnet-4-5")).toEqual(["thinking", "text"]);
  });

  test("of a call has an object as its input, whatever the model wrote", () => {
    expect(one(use("1", { path: "a" }))).toEqual({
      type: "tool_use",
      id: "1",
      name: "Read",
      input: { path: "a" },
    });
    expect(one({ type: "tool_use", id: "1", name: "Read", input: {}, broken: '{"pa' })).toMatchObject({
      input: {},
    });
    expect(one({ type: "tool_use", id: "1", name: "Read", input: [1] })).toMatchObject({ input: {} });
  });

  test("of a result holds text, images and whether it failed, and no blank text", () => {
    const block: Block = {
      type: "tool_result",
      callId: "1",
      failed: true,
      content: [
        { type: "text", text: "no such file" },
        { type: "text", text: "\n" },
        { type: "image", mediaType: "image/png", data: "aGk=" },
      ],
    };
    expect(one(block)).toEqual({
      type: "tool_result",
      tool_use_id: "1",
      is_error: true,
      content: [
        { type: "text", text: "no such file" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      ],
    });
  });

  test("of a result may be empty, but an error has words", () => {
    const empty = { type: "tool_result", callId: "1", content: [] } as const;
    expect(one({ ...empty, content: [], failed: false })).toEqual({ type: "tool_result", tool_use_id: "1" });
    expect(one({ ...empty, content: [], failed: true })).toMatchObject({ content: [{ type: "text" }] });
  });

  test("that is foreign goes back to its own provider as it came, and to no other", () => {
    const data = { type: "server_tool_use", id: "s", name: "web_search", input: { q: "x" } };
    expect(one({ type: "foreign", provider: "anthropic", data })).toEqual(data);
    expect(one({ type: "foreign", provider: "openai", data })).toBeUndefined();
  });
});

describe("cache marks", () => {
  const tools = [
    { name: "A", description: "a", input: {} },
    { name: "B", description: "b", input: {} },
  ];
  /** A session that grows by one reply and its results at a time. */
  const history = (turns: number, width = 1): Message[] => [
    user(text("start")),
    ...Array.from({ length: turns }, (_, turn) => {
      const ids = Array.from({ length: width }, (_, call) => `${turn}-${call}`);
      return [
        assistant(text(`reply ${turn}`), ...ids.map((id) => use(id))),
        user(...ids.map((id) => result(id))),
      ];
    }).flat(),
  ];

  test("stand on the last system part, on the last block, and where the request before this one ended", () => {
    const body = bodyOf({ system: ["one", "two"], tools, messages: history(3, 2) });
    const marked = blocksOf(body).flatMap((block, index) => (block.includes("cache_control") ? [index] : []));
    // Two tools, two system parts, then: start, (reply, call, call), (result, result), …
    expect(marked).toEqual([3, 14, 19]);
  });

  test("stand on the last tool when there is no system part", () => {
    const [first, second] = bodyOf({ tools })["tools"] as Wire[];
    expect([first?.["cache_control"], second?.["cache_control"]]).toEqual([undefined, { type: "ephemeral" }]);
  });

  test("are never more than four, and never stand on thinking or foreign blocks", () => {
    const thought: Block = { type: "thinking", text: "hm", signature: "sig" };
    const foreign: Block = { type: "foreign", provider: "anthropic", data: { type: "server_tool_use" } };
    for (let turns = 0; turns < 8; turns++) {
      const messages = [
        ...history(turns),
        assistant(thought, text("x"), thought),
        user(text("y"), foreign, thought),
      ];
      const body = bodyOf({ system: ["s"], tools, messages });
      const marked = blocksOf(body).filter((block) => block.includes("cache_control"));
      expect(marked.length).toBeLessThanOrEqual(4);
      expect(marked.join()).not.toMatch(/"thinking":|server_tool_use/);
    }
  });

  test("stand inside their block also when its text is longer in bytes than in characters", () => {
    const body = bodyOf({ system: ["é你😀"], messages: [user(text("é你😀"))] });
    const marked = { type: "text", text: "é你😀", cache_control: { type: "ephemeral" } };
    expect([body["system"], messagesOf(body)[0]?.content]).toEqual([[marked], [marked]]);
  });

  test("are left out for a model without a cache", () => {
    expect(marksIn(bodyOf({ model: "no-cache", system: ["s"], tools, messages: history(3) }))).toBe(0);
  });

  test("are the only difference in what two requests of a session share", () => {
    verifies("P15");
    const encode = messagesEncoder();
    const steps = history(12, 3);
    const bodies = steps.map((_, count) =>
      bodyOf({ system: ["one", "two"], tools, messages: steps.slice(0, count + 1) }, encode),
    );
    for (const [index, body] of bodies.entries()) {
      const before = blocksOf(bodies[index - 1] ?? { messages: [] }).map(withoutMarks);
      expect(blocksOf(body).map(withoutMarks).slice(0, before.length)).toEqual(before);
    }
  });

  test("find the way back: a mark of each request stands where a mark of the one before it stood at its end", () => {
    const steps = history(6, 40);
    for (let turns = 1; turns < 6; turns++) {
      const before = blocksOf(bodyOf({ tools, messages: steps.slice(0, turns * 2 - 1) }));
      const after = blocksOf(bodyOf({ tools, messages: steps.slice(0, turns * 2 + 1) }));
      expect(before.at(-1)).toContain("cache_control");
      expect(after[before.length - 1]).toContain("cache_control");
    }
  });
});

describe("the cost of a turn", () => {
  test("each message, tool and system part is written once", () => {
    const written: string[] = [];
    const schema = {
      get type() {
        written.push("schema");
        return "object";
      },
    };
    const input = {
      get path() {
        written.push("input");
        return "a";
      },
    };
    const encode = messagesEncoder();
    const tools = [{ name: "Read", description: "Reads", input: schema }];
    const messages = [user(text("hi")), assistant(use("1", input))];

    for (let turn = 0; turn < 5; turn++)
      bodyOf({ tools, messages: [...messages, user(result("1"))] }, encode);

    expect(written).toEqual(["schema", "input"]);
  });

  test("what was remembered for one model is not sent to another that reads it otherwise", () => {
    const encode = messagesEncoder();
    const messages = [user({ type: "image", mediaType: "image/png", data: "aGk=" })];
    const typeFor = (model: string) =>
      messagesOf(bodyOf({ model, messages }, encode))[0]?.content[0]?.["type"];
    expect([typeFor("text-only"), typeFor("sighted"), typeFor("text-only")]).toEqual([
      "text",
      "image",
      "text",
    ]);
  });
});
