import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { verifies } from "../../../test/support/verifies.ts";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { builtInTools } from "./catalog.ts";
import { chooseTools, type ToolSetOptions } from "./presets.ts";

const tool = (name: string, more: { aliases?: string[]; deferred?: boolean } = {}): Tool =>
  defineTool({
    name,
    description: "",
    input: schemaOf(z.object({})),
    ...more,
    async *run() {
      return { content: [], display: { kind: "text", text: "" } };
    },
  }) as Tool;

const unused = (): never => {
  throw new Error("not called here");
};
const builtIn = builtInTools({
  web: { address: unused, fetch: unused },
  search: { missing: unused, search: unused },
});
const choose = (request: Partial<ToolSetOptions> = {}) =>
  chooseTools({ builtIn, asks: "refused", list: "tasks", ...request });
const names = (request: Partial<ToolSetOptions> = {}) => choose(request).tools.map(({ name }) => name);

describe("a preset", () => {
  test("a coordinator gives work and does none", () => {
    verifies("S4.56");
    const agents = { kinds: unused, start: unused, send: unused, team: unused };
    const all = builtInTools({ agents });
    expect(names({ builtIn: all, choice: "coordinator" })).toEqual(["Agent", "SendMessage", "TaskStop"]);
  });

  test("read-only and safe-edit offer exactly what they promise, and nothing of others", () => {
    verifies("S0.21");
    const foreign = [tool("mcp__files__delete")];
    expect(names({ choice: "read-only", foreign })).toEqual([
      "Glob",
      "Grep",
      "Read",
      "WebFetch",
      "WebSearch",
    ]);
    expect(names({ choice: "safe-edit", foreign })).toEqual([
      "Edit",
      "Glob",
      "Grep",
      "Read",
      "WebFetch",
      "WebSearch",
    ]);
  });

  test("no-bash leaves out Bash and nothing else", () => {
    verifies("S0.21");
    expect(names({ choice: "no-bash" })).toEqual(names().filter((name) => name !== "Bash"));
  });

  test("offers what only asks where somebody answers", () => {
    const asking = names({ asks: "answered" }).filter((name) => !names().includes(name));
    expect(asking).toEqual(["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"]);
  });

  test("offers the list in one form, never in both", () => {
    const older = names({ list: "todos" });
    expect(older).toContain("TodoWrite");
    expect(older.filter((name) => name.startsWith("Task"))).toEqual(["TaskOutput", "TaskStop"]);
    expect(names()).not.toContain("TodoWrite");
  });
});

describe("names", () => {
  test("offer what they name, also what a preset would leave out, in the one order", () => {
    verifies("S2.8");
    const choice = ["Read", "ExitPlanMode", "Bash", "TodoWrite"];
    expect(names({ choice })).toEqual(["Bash", "ExitPlanMode", "Read", "TodoWrite"]);
    expect(names({ choice: [] })).toEqual([]);
  });

  test("may be older ones, and those of no tool are told", () => {
    const agent = tool("Agent", { aliases: ["Task"] });
    const chosen = choose({ builtIn: [agent, tool("Read")], choice: ["Task", "Raed"] });
    expect(chosen.tools.map(({ name }) => name)).toEqual(["Agent"]);
    expect(chosen.unknown).toEqual(["Raed"]);
  });

  test("leave the tools of others alone", () => {
    expect(names({ choice: ["Read"], foreign: [tool("mcp__a__b")] })).toEqual(["Read", "mcp__a__b"]);
  });
});

describe("the order", () => {
  test("is built-in ones by name, then others by name, however they come", () => {
    verifies("S4.15");
    const foreign = ["mcp__z__a", "Alpha", "mcp__b__c"].map((name) => tool(name));
    const request = { builtIn: [tool("Write"), tool("Bash"), tool("Read")], foreign };
    expect(names(request)).toEqual(["Bash", "Read", "Write", "Alpha", "mcp__b__c", "mcp__z__a"]);
    expect(names({ builtIn: request.builtIn.toReversed(), foreign: foreign.toReversed() })).toEqual(
      names(request),
    );
  });

  test("has no name twice: a built-in tool wins, also one that is not offered, and by its older name", () => {
    verifies("S4.15");
    const own = [tool("Agent", { aliases: ["Task"] }), tool("Bash")];
    const foreign = [tool("Bash"), tool("Task"), tool("mcp__a__b"), tool("mcp__a__b")];
    const chosen = choose({ builtIn: own, foreign }).tools;
    expect(chosen.map(({ name }) => name)).toEqual(["Agent", "Bash", "mcp__a__b"]);
    expect(chosen[1]).toBe(own[1]);
    expect(names({ builtIn: own, foreign, choice: "no-bash" })).toEqual(["Agent", "mcp__a__b"]);
  });
});

describe("deferred tools", () => {
  const late = tool("mcp__late__one", { deferred: true });

  test("bring the tool that loads them, which is otherwise not offered", () => {
    verifies("P14");
    expect(names()).not.toContain("ToolSearch");
    expect(names({ foreign: [late] })).toContain("ToolSearch");
  });

  test("are offered at once where tools are named", () => {
    const chosen = choose({ choice: ["Read"], foreign: [late] }).tools;
    expect(chosen.map(({ name, deferred }) => `${name} ${deferred}`)).toEqual([
      "Read false",
      "mcp__late__one false",
    ]);
    expect(chosen[1]?.spec).toBe(late.spec);
  });
});
