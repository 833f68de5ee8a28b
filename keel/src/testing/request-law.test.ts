import { describe, expect, test } from "vitest";
import { body, post, serving } from "../../../test/support/plain-client.ts";
import { memoryLog, openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { lookTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Model, ModelRequest } from "../ports/model.ts";
import { type Message, text } from "../protocol/message.ts";
import { countingIds } from "./counting-ids.ts";
import { reply, replyWith, toolUse } from "./reply.ts";
import { type LawBreak, type RequestLaw, type RequestLawOptions, requestLaw } from "./request-law.ts";
import { scriptedModel } from "./scripted-model.ts";

const said = (role: "user" | "assistant", words: string): Message => ({ role, content: [text(words)] });
const tool = (name: string, input: ModelRequest["tools"][number]["input"] = { type: "object" }) => ({
  name,
  description: `${name}s.`,
  input,
});

/** The second request of a conversation, and the one before it. */
const first: ModelRequest = {
  session: "one",
  model: "m",
  system: ["You help.", "Today is Monday."],
  tools: [tool("Look"), tool("Change")],
  messages: [said("user", "look"), said("user", "a reminder")],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
};
const second: ModelRequest = {
  ...first,
  messages: [
    ...first.messages,
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "Look", input: { at: "x", deep: true } }],
    },
    {
      role: "user",
      content: [{ type: "tool_result", callId: "c1", content: [text("seen")], failed: false }],
    },
  ],
};

/** A law that keeps what it finds to itself: these tests break it on purpose. */
function quiet(options: RequestLawOptions = {}): RequestLaw {
  return requestLaw({ onBreak: () => undefined, ...options });
}

function breaksOf(requests: readonly ModelRequest[], law = quiet()): readonly LawBreak[] {
  for (const request of requests) law.check(request);
  return law.breaks;
}

const third = (change: Partial<ModelRequest>): ModelRequest => ({
  ...second,
  messages: [...second.messages, said("assistant", "done"), said("user", "go on")],
  ...change,
});

describe("the request law", () => {
  test("is content with a conversation that grows, with the same request again, and with messages that are joined", () => {
    const joined = {
      ...second,
      messages: [{ role: "user" as const, content: [text("look"), text("a reminder")] }],
    };
    const grown = third({
      messages: [...joined.messages, ...second.messages.slice(2), said("assistant", "done")],
    });
    expect(breaksOf([first, first, second, { ...second, maxOutputTokens: 2_000 }, grown])).toEqual([]);
  });

  test("also tells what a provider refuses in the request itself", () => {
    expect(quiet().check({ ...second, messages: second.messages.slice(0, -1) })).toEqual([
      expect.stringContaining("last message must be the user's"),
      expect.stringContaining("tool_use c1 has no tool_result"),
    ]);
  });

  test("finds a reminder that moved to the end", () => {
    const [start, reminder, ...rest] = third({}).messages;
    const moved = third({ messages: [start, ...rest, reminder].filter((message) => message !== undefined) });
    expect(breaksOf([first, second, moved])).toEqual([
      expect.objectContaining({
        section: "messages",
        name: "user text became assistant tool_use",
        index: 6,
        request: 3,
        before: expect.stringContaining("a reminder"),
      }),
    ]);
  });

  test("finds a reordered tool, and names it", () => {
    const [found] = breaksOf([first, third({ tools: [tool("Change"), tool("Look")] })]);
    expect(found).toMatchObject({ section: "tools", index: 0, name: "tool Look became tool Change" });
    expect(found?.sentence).toContain("block 0 (tool Look became tool Change)");
  });

  test("finds an added and a removed tool: the system prompt after them would be read anew", () => {
    expect(breaksOf([first, third({ tools: [...first.tools, tool("More")] })])).toMatchObject([
      { section: "tools", index: 2, name: "tool More", before: "" },
    ]);
    expect(breaksOf([first, third({ tools: first.tools.slice(0, 1) })])).toMatchObject([
      { section: "tools", index: 1, name: "tool Change", after: "" },
    ]);
  });

  test("finds a timestamp in the prompt, with the place where it changed", () => {
    const at = (time: string) => ({
      system: ["You help.", `Today is Monday, and it is now ${time} o'clock.`],
    });
    expect(breaksOf([{ ...first, ...at("10:01") }, third(at("10:02"))])).toMatchObject([
      {
        section: "system",
        index: 3,
        name: "system 2",
        before: "…d it is now 10:01 o'clock.\"",
        after: expect.stringContaining("10:02"),
      },
    ]);
  });

  test("finds keys in another order, in the input of a call and in the schema of a tool", () => {
    const [start, reminder, , result, ...rest] = third({}).messages;
    const swapped: Message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "Look", input: { deep: true, at: "x" } }],
    };
    const messages = [start, reminder, swapped, result, ...rest].filter((message) => message !== undefined);
    expect(breaksOf([second, third({ messages })])).toMatchObject([{ name: "assistant tool_use", index: 7 }]);
    const schema = { properties: {}, type: "object" };
    const other = { type: "object", properties: {} };
    const tools = (input: typeof schema) => ({ tools: [tool("Look", input)] });
    expect(breaksOf([{ ...first, ...tools(schema) }, third(tools(other))])).toMatchObject([
      { name: "tool Look" },
    ]);
  });

  test("finds a setting of thinking that changed without a word", () => {
    expect(breaksOf([first, third({ thinking: { kind: "adaptive" } })])).toMatchObject([
      { section: "thinking" },
    ]);
    expect(breaksOf([first, third({ effort: "low" })])).toMatchObject([{ section: "thinking" }]);
  });

  test("follows each session and each model by itself, and goes on where a model was left", () => {
    const other = { ...first, session: "two", messages: [said("user", "something else")] };
    const fallback = { ...second, model: "other" };
    expect(breaksOf([first, other, second, fallback, third({})])).toEqual([]);
    expect(breaksOf([second, fallback, { ...first, messages: [said("user", "anew")] }])).toMatchObject([
      { model: "m", request: 2 },
    ]);
  });

  test("takes what a test allows by name, and nothing else", () => {
    const changed = third({ tools: [], system: ["Another."] });
    expect(breaksOf([first, changed], quiet({ allow: ["tools", "system"] }))).toEqual([]);
    expect(breaksOf([first, changed], quiet({ allow: ["tools"] }))).toMatchObject([{ section: "system" }]);
  });
});

describe("a declared boundary", () => {
  const envelope = { seq: 1, at: 0, session: "one" };

  test("covers its own section once, and no other", () => {
    verifies("P15");
    const law = quiet();
    const changed = third({ system: ["Another."] });
    law.check(first);
    law.hear({ ...envelope, type: "prompt.fixed", system: ["Another."], tools: [], why: "host" });
    law.check(changed);
    expect(law.breaks).toEqual([]);
    law.check({ ...changed, system: ["Yet another."] });
    expect(law.breaks).toMatchObject([{ section: "system", request: 3 }]);

    const shortened = quiet();
    shortened.check(second);
    shortened.hear({ ...envelope, type: "context.cleared" });
    shortened.check({ ...first, tools: [], messages: [said("user", "anew")] });
    expect(shortened.breaks).toMatchObject([{ section: "tools" }]);
  });

  test("that is heard makes notes at the start no excuse any more", () => {
    const notes = said(
      "user",
      "Earlier parts of this conversation were replaced by these notes:\n\nall well",
    );
    const compacted = third({ messages: [notes, said("user", "go on")] });
    expect(breaksOf([second, compacted])).toEqual([]);
    const law = quiet();
    law.hear({ ...envelope, type: "session.closed", reason: "ended" });
    expect(breaksOf([second, compacted], law)).toMatchObject([{ section: "messages" }]);
  });

  test("is found in the log of a session in another process", () => {
    const written = [
      { type: "prompt.fixed" as const, system: ["You help."], tools: [], why: "first" as const },
    ];
    const law = quiet({ log: () => written });
    law.check(first);
    law.check(third({ tools: [] }));
    expect(law.breaks).toMatchObject([{ section: "tools" }]);
    written.push({ type: "prompt.fixed", system: ["You help."], tools: [], why: "first" });
    law.check(third({ tools: [tool("New")] }));
    expect(law.breaks).toHaveLength(1);
  });
});

describe("a session", () => {
  const look = reply(toolUse("Look", { at: "x" }, "c1"));

  /** Plays a session on a model whose requests somebody changes on the way. */
  async function mutated(
    change: (request: ModelRequest, number: number) => ModelRequest,
    options: TestSessionOptions = {},
  ) {
    const law = quiet();
    const inner = scriptedModel({ replies: [look, reply("done"), reply("more")] }, { law });
    let count = 0;
    const model: Model = {
      info: inner.info,
      stream: (asked, signal) => inner.stream(change(asked, ++count), signal),
    };
    const told = await openTestSession({ model, tools: [lookTool([])], ...options });
    await told.say("look at x");
    await told.say("and now?");
    return { law, reasons: told.all("turn.finished").map(({ reason }) => reason) };
  }

  test("that is left alone keeps the law", async () => {
    const { law, reasons } = await mutated((request) => request);
    expect([law.breaks, reasons]).toEqual([[], ["completed", "completed"]]);
  });

  test.each<[string, (request: ModelRequest, number: number) => ModelRequest, string]>([
    [
      "a timestamp in the prompt",
      (asked, number) => ({ ...asked, system: [`It is ${number}.`] }),
      "system 1",
    ],
    [
      "a reordered tool",
      (asked, number) => ({
        ...asked,
        tools: [...asked.tools, tool("Other")].sort((left, right) =>
          (number === 1 ? left.name < right.name : left.name > right.name) ? -1 : 1,
        ),
      }),
      "tool Look became tool Other",
    ],
    [
      "a reminder that always stands last",
      (asked) => ({ ...asked, messages: [...asked.messages, said("user", "Mind the files.")] }),
      "user text became assistant tool_use",
    ],
  ])("that is given %s fails loudly, with the block", async (_, change, name) => {
    const { law, reasons } = await mutated(change);
    expect(law.breaks[0]).toMatchObject({ name, request: 2 });
    expect(reasons[0]).toBe("model_error");
  });

  test("may change its thinking, its tools and its model by events, also after a restart", async () => {
    const law = requestLaw();
    const log = memoryLog();
    const script = { replies: [], otherwise: reply("fine") };
    const open = (options: TestSessionOptions) =>
      openTestSession({ log, model: scriptedModel(script, { law }), ...options });
    const before = await open({ tools: [lookTool([])] });
    await before.say("one");
    await before.session.submit({ type: "set", patch: { thinking: { kind: "budget", tokens: 2_000 } } });
    await before.say("two");
    await before.session.submit({ type: "set", patch: { model: "another" } });
    await before.say("three");
    await before.session.submit({ type: "set", patch: { model: "test-model" } });
    await before.session.close("ended");

    const after = await open({ tools: [], ids: countingIds({ prefix: 1 }) });
    await after.say("four");
    expect(law.breaks).toEqual([]);
    expect(after.all("turn.finished").map(({ reason }) => reason)).toEqual(["completed"]);
    expect(after.all("prompt.fixed").map(({ why }) => why)).toEqual(["tools_removed"]);
  });

  test("whose reply broke off and which was steered meanwhile still only appends", async () => {
    const law = requestLaw();
    const model = scriptedModel(
      {
        replies: [
          replyWith({ fault: { kind: "cut", afterEvents: 2 } }, "half a sen"),
          reply(toolUse("Look", { at: "y" }, "c2")),
          reply("done"),
        ],
        otherwise: reply("fine"),
      },
      { law },
    );
    const told = await openTestSession({ model, tools: [lookTool([])] });
    await told.session.submit({ type: "input", content: [text("first")] });
    await told.session.submit({ type: "input", content: [text("and quickly")], when: "now" });
    await told.session.run();
    await told.say("more");
    expect(model.requests.length).toBeGreaterThanOrEqual(4);
    expect(law.breaks).toEqual([]);
  });
});

describe("the model server", () => {
  const named = (change: object, id = "s1") => body({ metadata: { user_id: id }, ...change });
  const talk = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
    { role: "user", content: [{ type: "text", text: "go on", cache_control: { type: "ephemeral" } }] },
  ];

  test("refuses a request that breaks the prefix of its session, in the provider's form", async () => {
    const { serve, close } = serving();
    const law = quiet();
    const server = await serve({ replies: [], otherwise: reply("hi") }, { law });
    const statuses: number[] = [];
    for (const change of [{}, { messages: talk }, { messages: talk, system: "It is 10:02." }])
      statuses.push((await post(server, named(change))).status);
    const refused = await (await post(server, named({ messages: talk.slice(2) }))).json();
    expect(statuses).toEqual([200, 200, 400]);
    expect(refused).toMatchObject({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining("request law") },
    });
    expect((await post(server, named({ system: "Other." }, "s2"))).status).toBe(200);
    await close();
  });

  test("lets cache marks move, and takes a text for a list of one block", async () => {
    const { serve, close } = serving();
    const law = quiet();
    const server = await serve({ replies: [], otherwise: reply("hi") }, { law });
    const marked = [
      ...talk.slice(0, 2),
      { role: "user", content: "go on" },
      { role: "user", content: "and on" },
    ];
    await post(server, named({ messages: talk }));
    await post(server, named({ messages: marked }));
    expect(law.breaks).toEqual([]);
    await close();
  });

  test("follows a client that names no session by the start of its conversation", async () => {
    const { serve, close } = serving();
    const law = quiet();
    const server = await serve({ replies: [], otherwise: reply("hi") }, { law });
    // Two conversations begin alike; each goes on with its own.
    for (const system of ["One.", "Two."]) await post(server, body({ system }));
    for (const system of ["One.", "Two."]) await post(server, body({ system, messages: talk }));
    expect(law.breaks).toEqual([]);
    expect((await post(server, body({ system: "Three.", messages: talk }))).status).toBe(400);
    expect(law.breaks).toMatchObject([{ section: "system", name: "system 1" }]);
    await close();
  });
});
