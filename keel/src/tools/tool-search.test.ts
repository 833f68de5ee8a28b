import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { openTestSession } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { findTools, toolSearchTool } from "./tool-search.ts";

const late = (name: string, description: string): Tool =>
  defineTool({
    name,
    description,
    deferred: true,
    input: schemaOf(z.object({ at: z.optional(z.string()) })),
    traits: { readOnly: true },
    claims: async () => [],
    async *run() {
      return { content: [text(`${name} ran`)], display: { kind: "text", text: name } };
    },
  }) as Tool;

const tools = [
  late("mcp__git__log", "Shows the history of a repository."),
  late("mcp__git__blame", "Shows who wrote which line."),
  late("mcp__mail__send", "Sends a mail.\nWith many words about it."),
];

async function search(...queries: object[]) {
  const model = scriptedModel({
    replies: [
      ...queries.map((query) => reply(toolUse("ToolSearch", JSON.parse(JSON.stringify(query))))),
      reply("done"),
    ],
  });
  const session = await openTestSession({ model, tools: [toolSearchTool, ...tools] });
  await session.say("go");
  const finished = session.all("tool.finished");
  return {
    ...session,
    finished,
    offered: model.requests.map((request) => request.tools.map(({ name }) => name)),
  };
}

describe("ToolSearch", () => {
  test("finds a tool by words that only its hint has", () => {
    verifies("S4.1");
    const spec = { name: "mcp__calendar__add", description: "Adds an entry.", input: {} };
    expect(findTools("appointment", [spec])).toEqual([]);
    expect(findTools("appointment", [{ ...spec, searchHint: "meetings, appointments" }])).toHaveLength(1);
  });

  test("is told the hint of a tool that is not loaded", async () => {
    verifies("S4.1");
    const hinted = { ...late("mcp__calendar__add", "Adds an entry."), searchHint: "appointment" };
    const model = scriptedModel({
      replies: [reply(toolUse("ToolSearch", { query: "appointment" })), reply("done")],
    });
    const session = await openTestSession({ model, tools: [toolSearchTool, hinted] });
    await session.say("go");
    expect(session.all("tool.finished")).toMatchObject([{ loads: ["mcp__calendar__add"] }]);
    expect(JSON.stringify(model.requests[1]?.tools)).not.toContain("appointment");
  });

  test("loads tools by name, in the order given, at the end of the list", async () => {
    verifies("P14", "S4.14");
    const { finished, offered, all } = await search({ query: "select:mcp__mail__send, mcp__git__log" });
    expect(finished).toMatchObject([
      {
        failed: false,
        data: { matches: ["mcp__mail__send", "mcp__git__log"], total_deferred_tools: 3 },
        loads: ["mcp__mail__send", "mcp__git__log"],
      },
    ]);
    expect(finished[0]?.content).toMatchObject([
      { text: expect.stringContaining("- mcp__mail__send: Sends a mail.\n") },
    ]);
    expect(offered).toEqual([["ToolSearch"], ["ToolSearch", "mcp__git__log", "mcp__mail__send"]]);
    expect(all("prompt.fixed").map(({ why }) => why)).toEqual(["first", "tools_added"]);
  });

  test("finds tools by words, and no more than were wanted", async () => {
    const { finished } = await search({ query: "git", max_results: 1 }, { query: "who wrote a line" });
    expect(finished.map(({ data }) => data)).toMatchObject([
      { matches: ["mcp__git__blame"] },
      { matches: ["mcp__mail__send", "mcp__git__log"], total_deferred_tools: 2 },
    ]);
  });

  test("that finds nothing says what there is; nothing is loaded and nothing breaks", async () => {
    const { finished, all } = await search({ query: "select:nothing" });
    expect(finished[0]).toMatchObject({ failed: false, loads: [] });
    expect(finished[0]?.content).toMatchObject([{ text: expect.stringContaining("mcp__git__blame") }]);
    expect(all("prompt.fixed")).toHaveLength(1);
  });

  test("that has loaded everything says so", async () => {
    const { finished } = await search(
      { query: "select:mcp__git__log,mcp__git__blame,mcp__mail__send" },
      { query: "git" },
    );
    expect(finished[1]?.content).toMatchObject([
      { text: "There are no more tools to load: you have them all." },
    ]);
  });
});

describe("finding tools", () => {
  const specs = tools.map(({ spec }) => spec);
  test.each([
    ["select:MCP__GIT__LOG", ["mcp__git__log"]],
    ["select:", []],
    ["send mail", ["mcp__mail__send"]],
    ["SHOWS", ["mcp__git__blame", "mcp__git__log"]],
    ["git history", ["mcp__git__log", "mcp__git__blame"]],
    ["zebra", []],
  ])("%j gives %j", (query, names) => {
    expect(findTools(query, specs).map(({ name }) => name)).toEqual(names);
  });
});
