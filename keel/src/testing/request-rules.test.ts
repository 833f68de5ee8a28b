import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../ports/model.ts";
import type { Block } from "../protocol/message.ts";
import { findViolations } from "./request-rules.ts";

const png = "iVBORw0KGgo=";

const call = (id = "call_1", name = "Read", input: object = {}) => ({ type: "tool_use", id, name, input });
const result = (id = "call_1", more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "done",
  ...more,
});
const text = (value: string) => ({ type: "text", text: value });
const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const tool = (name: string, schema: object = { type: "object" }) => ({
  name,
  description: "",
  input_schema: schema,
});
const cached = (block: object, ttl = "5m") => ({ ...block, cache_control: { type: "ephemeral", ttl } });

/** A valid body that uses everything, with some properties replaced. */
const body = (change: object = {}) => ({
  model: "test-model",
  max_tokens: 4096,
  system: [cached(text("Be brief."))],
  tools: [tool("Read"), cached(tool("Edit"))],
  messages: [
    user(text("look"), { type: "image", source: { type: "base64", media_type: "image/png", data: png } }),
    assistant(
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      text("I look."),
      call("call_1"),
      call("call_2"),
    ),
    user(
      result("call_1"),
      result("call_2", { content: [text("two")], is_error: true }),
      cached(text("go on")),
    ),
  ],
  ...change,
});

/** A valid conversation of one call, with the messages replaced. */
const talk = (...messages: object[]) => body({ messages });

describe("a valid request", () => {
  test("has no violation", () => {
    expect(findViolations(body())).toEqual([]);
  });

  test("may have neighbours of one role, which count as one message", () => {
    const messages = [user(text("a")), user(text("b")), assistant(call()), user(result()), user(text("c"))];
    expect(findViolations(talk(...messages))).toEqual([]);
  });

  test("may leave a result empty, and content may be a plain text", () => {
    const messages = [
      { role: "user", content: "go" },
      assistant(call("call_1"), call("call_2"), call("call_3")),
      user(
        result("call_1", { content: undefined }),
        result("call_2", { content: "" }),
        result("call_3", { content: [] }),
      ),
    ];
    expect(findViolations(talk(...messages))).toEqual([]);
  });

  test("may end with a reply that paused inside a tool of the provider", () => {
    const paused = assistant({ type: "server_tool_use", id: "srv_1", name: "web_search", input: {} });
    expect(findViolations(talk(user(text("search")), paused))).toEqual([]);
  });

  test("may think between tools of the provider", () => {
    const thought = { type: "thinking", thinking: "hm", signature: "c2ln" };
    const provided = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
    const turn = assistant(provided, call(), thought, text("and"));
    expect(findViolations(talk(user(text("go")), turn, user(result())))).toEqual([]);
  });
});

describe("each rule can fail:", () => {
  const rows: [string, unknown, RegExp][] = [
    ["the body is an object", "hello", /^the body is not an object$/],
    ["a model is named", body({ model: "" }), /^model:/],
    ["max_tokens is there", body({ max_tokens: undefined }), /^max_tokens:/],
    ["max_tokens is above 0", body({ max_tokens: 0 }), /^max_tokens:/],
    ["max_tokens is whole", body({ max_tokens: 1.5 }), /^max_tokens:/],
    [
      "the thinking budget is big enough",
      body({ thinking: { type: "enabled", budget_tokens: 10 } }),
      /at least 1024/,
    ],
    [
      "the thinking budget fits",
      body({ thinking: { type: "enabled", budget_tokens: 4096 } }),
      /below max_tokens/,
    ],
    ["the system prompt is not blank", body({ system: [text(" ")] }), /^system\.0: the text is blank/],
    ["the system prompt is readable", body({ system: 7 }), /^system is not a list/],
    [
      "a tool name has allowed characters",
      body({ tools: [tool("Read"), tool("a b")] }),
      /"a b" is not allowed/,
    ],
    ["a tool name is not too long", body({ tools: [tool("a".repeat(129))] }), /^tools\.0: the name/],
    [
      "tool names are unique",
      body({ tools: [tool("Read"), tool("Read")] }),
      /^tools\.1: the name Read is taken/,
    ],
    [
      "a tool has a schema of an object",
      body({ tools: [tool("Read", { type: "string" })] }),
      /not that of an object/,
    ],
    [
      "a schema has no choice at its top",
      body({ tools: [tool("Read", { type: "object", anyOf: [] })] }),
      /choice/,
    ],
    ["tools are defined where they are used", body({ tools: [] }), /no tool is defined/],
    [
      "a forced tool exists",
      body({ tool_choice: { type: "tool", name: "Nope" } }),
      /there is no tool "Nope"/,
    ],
    [
      "no tool is forced while the model thinks",
      body({ tool_choice: { type: "any" }, thinking: { type: "enabled", budget_tokens: 2048 } }),
      /cannot be forced/,
    ],
    ["there are messages", talk(), /^messages: there is none/],
    ["messages are a list", body({ messages: "hi" }), /^messages is not a list/],
    [
      "a message is an object",
      talk(user(text("a")), "b" as unknown as object),
      /^messages\.1 is not an object/,
    ],
    ["a block has a type", talk(user({ text: "a" })), /content\.0 has no type/],
    [
      "the user speaks first",
      talk(assistant(text("hi")), user(text("hi"))),
      /first message must be the user's/,
    ],
    [
      "the user speaks last",
      talk(user(text("hi")), assistant(text("hi"))),
      /last message must be the user's/,
    ],
    ["roles are known", talk(user(text("hi")), { role: "system", content: "x" }), /no role "system"/],
    [
      "a message is not empty",
      talk(user(text("a")), assistant(), user(text("b"))),
      /^messages\.1: the content is empty/,
    ],
    ["a text is not empty", talk(user(text(""))), /^messages\.0\.content\.0: the text is blank/],
    ["a text is not only white", talk(user(text(" \n\t"))), /the text is blank/],
    ["a plain text is not empty", talk({ role: "user", content: "" }), /the text is blank/],
    [
      "a call has its result",
      talk(user(text("go")), assistant(call()), user(text("hm"))),
      /call_1 has no tool_result/,
    ],
    [
      "a call's result comes directly after",
      talk(user(text("go")), assistant(call()), user(text("x")), assistant(text("y")), user(result())),
      /call_1 has no tool_result in the next message/,
    ],
    [
      "a last call has its result too",
      talk(user(text("go")), assistant(call())),
      /call_1 has no tool_result/,
    ],
    [
      "a call has one result only",
      talk(user(text("go")), assistant(call()), user(result(), result())),
      /has 2 results/,
    ],
    [
      "a result answers a call",
      talk(user(text("go")), assistant(text("x")), user(result("ghost"))),
      /ghost answers no/,
    ],
    ["a result does not come first of all", talk(user(result())), /call_1 answers no tool_use/],
    [
      "results come first",
      talk(user(text("go")), assistant(call()), user(text("x"), result())),
      /results must come first/,
    ],
    [
      "call ids are unique within a message",
      talk(user(text("go")), assistant(call("a"), call("a")), user(result("a"))),
      /the id a is used twice/,
    ],
    [
      "call ids are unique over the conversation",
      talk(
        user(text("go")),
        assistant(call("a")),
        user(result("a")),
        assistant(call("a")),
        user(result("a")),
      ),
      /^messages\.3: the id a is used twice/,
    ],
    [
      "a call id has allowed characters",
      talk(user(text("go")), assistant(call("a.b")), user(result("a.b"))),
      /id "a\.b"/,
    ],
    [
      "a call has a proper name",
      talk(user(text("go")), assistant(call("a", "")), user(result("a"))),
      /name "" is not/,
    ],
    [
      "a call's input is an object",
      talk(user(text("go")), assistant({ ...call("a"), input: "x" }), user(result("a"))),
      /input is not an object/,
    ],
    ["calls come from the assistant", talk(user(call())), /a tool_use cannot stand in a message of the user/],
    ["results come from the user", talk(user(text("a")), assistant(result())), /a tool_result cannot stand/],
    [
      "a result's text is not blank",
      talk(user(text("go")), assistant(call()), user(result("call_1", { content: [text("")] }))),
      /the text is blank/,
    ],
    [
      "a failed result says something",
      talk(user(text("go")), assistant(call()), user(result("call_1", { content: [], is_error: true }))),
      /must say something/,
    ],
    [
      "a failed result holds only text",
      talk(
        user(text("go")),
        assistant(call()),
        user(
          result("call_1", {
            is_error: true,
            content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
          }),
        ),
      ),
      /can only hold text/,
    ],
    [
      "a result holds no call",
      talk(user(text("go")), assistant(call()), user(result("call_1", { content: [call("inner")] }))),
      /a result cannot hold tool_use/,
    ],
    [
      "thinking comes from the assistant",
      talk(user({ type: "thinking", thinking: "x", signature: "y" })),
      /thinking cannot stand in a message of the user/,
    ],
    [
      "thinking is signed",
      talk(user(text("a")), assistant({ type: "thinking", thinking: "x" }, text("b")), user(text("c"))),
      /has no signature/,
    ],
    [
      "thinking is not the last block",
      talk(user(text("a")), assistant({ type: "thinking", thinking: "x", signature: "y" }), user(text("c"))),
      /last block must not be thinking/,
    ],
    [
      "hidden thinking is not the last block",
      talk(user(text("a")), assistant({ type: "redacted_thinking", data: "x" }), user(text("c"))),
      /last block must not be thinking/,
    ],
    [
      "thinking comes before calls",
      talk(
        user(text("a")),
        assistant(call(), { type: "thinking", thinking: "x", signature: "y" }, text("b")),
        user(result()),
      ),
      /thinking must come before the calls/,
    ],
    [
      "an image has an allowed type",
      talk(user({ type: "image", source: { type: "base64", media_type: "image/bmp", data: png } })),
      /media type "image\/bmp"/,
    ],
    [
      "an image is base64",
      talk(user({ type: "image", source: { type: "base64", media_type: "image/png", data: "not base64!" } })),
      /not valid base64/,
    ],
    [
      "an image is not empty",
      talk(user({ type: "image", source: { type: "base64", media_type: "image/png", data: "" } })),
      /not valid base64/,
    ],
    [
      "images come from the user",
      talk(user(text("a")), assistant({ type: "image", source: { type: "url", url: "x" } }), user(text("b"))),
      /an image cannot stand/,
    ],
    [
      "a document has an allowed type",
      talk(user({ type: "document", source: { type: "base64", media_type: "application/zip", data: png } })),
      /media type "application\/zip"/,
    ],
    [
      "a document is not blank",
      talk(user({ type: "document", source: { type: "text", media_type: "text/plain", data: " " } })),
      /the document is blank/,
    ],
    [
      "there are at most four cache marks",
      body({ messages: [user(...["a", "b", "c"].map((value) => cached(text(value))))] }),
      /at most 4 marks are allowed, there are 5/,
    ],
    [
      "thinking bears no cache mark",
      talk(
        user(text("a")),
        assistant(cached({ type: "thinking", thinking: "x", signature: "y" }), text("b")),
        user(text("c")),
      ),
      /thinking cannot be marked/,
    ],
    [
      "long cache marks come before short ones",
      body({ messages: [user(cached(text("a"), "1h"))] }),
      /must not follow one of five minutes/,
    ],
  ];

  test.each(rows)("%s", (_, request, expected) => {
    expect(findViolations(request).join("\n")).toMatch(new RegExp(expected.source, "m"));
  });
});

describe("a request of the engine", () => {
  const request = (...content: [role: "user" | "assistant", ...blocks: Block[]][]): ModelRequest => ({
    model: "test-model",
    system: ["Be brief."],
    tools: [{ name: "Read", description: "", input: { type: "object" } }],
    messages: content.map(([role, ...blocks]) => ({ role, content: blocks })),
    maxOutputTokens: 1000,
    thinking: { kind: "off" },
    session: "s",
  });
  const said = (value: string): Block => ({ type: "text", text: value });
  const used: Block = { type: "tool_use", id: "a", name: "Read", input: {} };
  const answered: Block = {
    type: "tool_result",
    callId: "a",
    content: [{ type: "text", text: "ok" }],
    failed: false,
  };

  test("is judged by the same rules", () => {
    expect(findViolations(request(["user", said("go")], ["assistant", used], ["user", answered]))).toEqual(
      [],
    );
    expect(findViolations(request(["user", said("go")], ["assistant", used], ["user", said("x")]))).toEqual([
      "messages.1: tool_use a has no tool_result in the next message",
    ]);
  });

  test("may send back a call that was not JSON, since an adapter writes an object in its place", () => {
    const broken: Block = { type: "tool_use", id: "a", name: "Read", input: "{", broken: "{" };
    expect(findViolations(request(["user", said("go")], ["assistant", broken], ["user", answered]))).toEqual(
      [],
    );
  });

  test("may send back what only its provider understands", () => {
    const foreign: Block = { type: "foreign", provider: "scripted", data: {} };
    expect(findViolations(request(["user", said("go")], ["assistant", foreign]))).toEqual([]);
  });

  test("needs a signature or hidden thinking", () => {
    const thought = (more: object): Block => ({ type: "thinking", text: "", ...more });
    const withThought = (more: object) =>
      findViolations(
        request(["user", said("a")], ["assistant", thought(more), said("b")], ["user", said("c")]),
      );
    expect(withThought({ hidden: "x" })).toEqual([]);
    expect(withThought({ signature: "x" })).toEqual([]);
    expect(withThought({})).toEqual(["messages.1.content.0: the thinking has no signature"]);
  });
});
