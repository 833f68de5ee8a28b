import { describe, expect, test } from "vitest";
import { openTestSession } from "../../../test/support/test-session.ts";
import { anyInput, changeTool, lookTool } from "../../../test/support/test-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { BoxTool, Tool, Toolbox } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { toolSearchTool } from "../tools/tool-search.ts";

const boxed = (name: string, late?: BoxTool["late"]): BoxTool => {
  const tool = defineTool({
    name,
    description: `Says that ${name} ran.`,
    input: anyInput,
    async *run() {
      return { content: [text(`${name} ran`)], display: { kind: "text", text: name } };
    },
  }) as Tool;
  // A spread would make the description before it is wanted.
  return late ? Object.defineProperties({ late } as BoxTool, Object.getOwnPropertyDescriptors(tool)) : tool;
};

function box(...first: BoxTool[]) {
  let tools = first;
  const known = new Set<string>();
  const readyCalls: string[] = [];
  const toolbox: Toolbox = {
    tools: () => tools,
    knows: (name) => known.has(name),
    ready: async () => void readyCalls.push("ready"),
  };
  const put = (...now: BoxTool[]): void => {
    for (const { name } of [...tools, ...now]) known.add(name);
    tools = now;
  };
  put(...first);
  return { toolbox, put, readyCalls };
}

type Opening = Partial<Parameters<typeof openTestSession>[0]>;

async function open(toolbox: Toolbox, replies: ReturnType<typeof reply>[], more: Opening = {}) {
  const model = scriptedModel({ replies });
  const tools = [toolSearchTool as Tool, lookTool([])];
  const session = await openTestSession({ model, tools, toolbox, ...more });
  const offered = () => model.requests.map((request) => request.tools.map(({ name }) => name));
  return { ...session, model, offered };
}

const words = (session: Awaited<ReturnType<typeof open>>): string[] =>
  session
    .all("tool.finished")
    .map(({ content }) => content.map((part) => ("text" in part ? part.text : "")).join(""));

describe("tools that come and go", () => {
  test("those that are there at the first request follow the built-in ones, by name", async () => {
    verifies("S4.15");
    const { toolbox, readyCalls } = box(boxed("mcp__b__two"), boxed("mcp__a__one"));
    const session = await open(toolbox, [reply(toolUse("mcp__a__one", {})), reply("done")]);
    await session.say("go");
    expect(session.offered()[0]).toEqual(["ToolSearch", "Look", "mcp__a__one", "mcp__b__two"]);
    expect(session.offered()[1]).toEqual(session.offered()[0]);
    expect(words(session)).toEqual(["mcp__a__one ran"]);
    expect(readyCalls.length).toBeGreaterThan(0);
  });

  test("one that comes later is announced and can be loaded, without another prompt until then", async () => {
    const { toolbox, put } = box();
    const session = await open(toolbox, [
      reply("one"),
      reply(toolUse("ToolSearch", { query: "select:mcp__a__one" })),
      reply(toolUse("mcp__a__one", {})),
      reply("done"),
    ]);
    await session.say("go");
    put(boxed("mcp__a__one"));
    await session.say("on");
    expect(session.all("context.added")).toMatchObject([{ why: "tools_added", tools: ["mcp__a__one"] }]);
    expect(session.offered().map((names) => names.includes("mcp__a__one"))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(session.all("prompt.fixed").map(({ why }) => why)).toEqual(["first", "tools_added"]);
    expect(words(session).at(-1)).toBe("mcp__a__one ran");
  });

  test("one that is to join does so with the next input, as one declared boundary, and not in a running turn", async () => {
    const { toolbox, put } = box();
    const trace: string[] = [];
    const comes = defineTool({
      name: "Comes",
      description: "Lets a tool come.",
      input: anyInput,
      claims: async () => [],
      async *run() {
        put(boxed("mcp__a__one", "joins"));
        return { content: [text("came")], display: { kind: "text", text: "" } };
      },
    }) as Tool;
    const session = await open(
      toolbox,
      [reply(toolUse("Comes", {})), reply("one"), reply(toolUse("mcp__a__one", {})), reply("two")],
      { tools: [toolSearchTool as Tool, comes, changeTool(trace)] },
    );
    await session.say("go");
    await session.say("on");
    expect(session.offered().map((names) => names.includes("mcp__a__one"))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(session.all("prompt.fixed").map(({ why }) => why)).toEqual(["first", "tools_added"]);
  });

  test("one that is gone stays declared until the conversation is read anew, and its call says so", async () => {
    const { toolbox, put } = box(boxed("mcp__a__one"));
    const session = await open(toolbox, [
      reply("one"),
      reply(toolUse("mcp__a__one", {})),
      reply("two"),
      reply("notes"),
      reply("three"),
    ]);
    await session.say("go");
    put();
    await session.say("on");
    expect(words(session)).toEqual([expect.stringContaining("mcp__a__one is not available now")]);
    expect(session.all("prompt.fixed")).toHaveLength(1);
    await session.session.submit({ type: "compact" });
    await session.session.run();
    await session.say("again");
    expect(session.all("prompt.fixed").map(({ why }) => why)).toEqual(["first", "tools_removed"]);
    expect(session.offered().at(-1)).toEqual(["ToolSearch", "Look"]);
  });

  test("a built-in one wins over one of the same name", async () => {
    verifies("S4.15");
    const { toolbox } = box(boxed("Look"));
    const session = await open(toolbox, [reply(toolUse("Look", { at: "x" })), reply("done")]);
    await session.say("go");
    expect(session.offered()[0]).toEqual(["ToolSearch", "Look"]);
    expect(words(session)).toEqual(["saw x"]);
  });

  test("a call by a redirected name runs the other tool, and never its own", async () => {
    const { toolbox, put } = box(boxed("mcp__a__one"));
    const session = await open(
      toolbox,
      [reply(toolUse("Look", {})), reply("one"), reply(toolUse("Look", {})), reply("two")],
      {
        redirects: { Look: "mcp__a__one" },
      },
    );
    await session.say("go");
    put();
    await session.say("on");
    expect(words(session)[0]).toBe("mcp__a__one ran");
    expect(words(session)[1]).not.toContain("saw");
  });
});
