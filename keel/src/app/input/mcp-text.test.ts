import { describe, expect, test } from "vitest";
import { fault } from "../../kernel/fault.ts";
import { text } from "../../protocol/message.ts";
import type { McpControl } from "../compose/mcp.ts";
import { expandMcp } from "./mcp-text.ts";

const asked: unknown[] = [];
const mcp: McpControl = {
  start: () => undefined,
  status: () => [],
  tools: () => [],
  reconnect: async () => undefined,
  toggle: async () => undefined,
  set: async () => ({ added: [], removed: [], errors: {} }),
  prompts: () => [
    {
      server: "git",
      name: "review",
      command: "mcp__git__review",
      description: "",
      arguments: [
        { name: "branch", required: true },
        { name: "words", required: false },
      ],
    },
  ],
  async prompt(command, values) {
    asked.push([command, values]);
    return [text("Review the branch.")];
  },
  resources: () => [{ server: "docs", uri: "mem://note", name: "note" }],
  async resource(server, uri) {
    if (server !== "docs") throw fault("usage", { reason: "no such server" });
    return [text(`the words of ${uri}`)];
  },
  call: async () => {
    throw new Error("nobody calls");
  },
  onChange: () => () => undefined,
};

const input = (words: string) => ({ type: "input" as const, content: [text(words)] });

describe("a person's words that name something of a server", () => {
  test("a prompt is asked for with its arguments, the last of which takes the rest", async () => {
    const { command } = await expandMcp(input("/mcp__git__review main with care and patience"), mcp);
    expect(asked).toEqual([["mcp__git__review", { branch: "main", words: "with care and patience" }]]);
    expect(command).toMatchObject({ content: [{ text: "Review the branch." }], words: "as-is" });
  });

  test("a resource that is mentioned is attached; an address or another name is not", async () => {
    const { command, problems } = await expandMcp(
      input("see @docs:mem://note and @me:home, a@docs:mem://note"),
      mcp,
    );
    expect(command.content).toHaveLength(2);
    expect(command.content[1]).toMatchObject({ text: expect.stringContaining("the words of mem://note") });
    expect(problems).toEqual([]);
  });

  test("words that no person typed are left as they are", async () => {
    const given = { ...input("/mcp__git__review x @docs:mem://note"), words: "as-is" as const };
    expect((await expandMcp(given, mcp)).command).toBe(given);
  });
});
