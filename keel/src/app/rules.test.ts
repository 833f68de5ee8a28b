import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { defineTool } from "../engine/tools/define.ts";
import { schemaOf } from "../kernel/schema.ts";
import { offeredTools, readRules } from "./rules.ts";

const tool = (name: string, aliases: string[] = []) =>
  defineTool({
    name,
    aliases,
    description: "",
    input: schemaOf(z.object({})),
    async *run() {
      return { content: [], display: { kind: "text", text: "" } };
    },
  });

describe("rules", () => {
  test("flags and settings are joined, and settings may also ask", () => {
    const settings = {
      permissions: { allow: ["Read"], ask: ["Bash(git push:*)"], deny: ["Edit(/etc/hosts)"] },
    };
    const { rules, problems } = readRules({
      settings,
      allowedTools: ["Bash(ls:*)"],
      disallowedTools: ["Write"],
    });
    expect(problems).toEqual([]);
    const texts = (list: readonly { text: string }[]) => list.map(({ text }) => text);
    expect(texts(rules.allow)).toEqual(["Read", "Bash(ls:*)"]);
    expect(texts(rules.ask)).toEqual(["Bash(git push:*)"]);
    expect(texts(rules.deny)).toEqual(["Edit(/etc/hosts)", "Write"]);
  });

  test("what is no rule is told by its words and becomes none", () => {
    const { rules, problems } = readRules({
      settings: {},
      allowedTools: ["Bash(", "Read"],
      disallowedTools: ["; rm"],
    });
    expect(rules.allow.map(({ text }) => text)).toEqual(["Read"]);
    expect(rules.deny).toEqual([]);
    expect(problems.map((words) => words.split(" is not")[0])).toEqual(['"Bash("', '"; rm"']);
  });
});

describe("tools that are offered", () => {
  const tools = [tool("Bash"), tool("Agent", ["Task"]), tool("Read")];
  const offered = (...deny: string[]) =>
    offeredTools(tools, readRules({ settings: {}, disallowedTools: deny }).rules).map(({ name }) => name);

  test("a tool that is denied by its bare name, or by an old one, is not offered", () => {
    expect(offered("Bash", "Task")).toEqual(["Read"]);
  });

  test("a tool of which only some uses are denied still is", () => {
    expect(offered("Bash(rm:*)")).toEqual(["Bash", "Agent", "Read"]);
  });
});
