import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { entriesOf, judgeEntries } from "../../config/settings/entries.ts";
import type { Layer } from "../../config/settings/layers.ts";
import { defineTool } from "../../core/define-tool.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { isForbiddingLost, offeredTools, readRules, refuseLost } from "./rules.ts";

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

const read = (...layers: Layer[]) =>
  readRules({ entries: judgeEntries(entriesOf(layers), () => undefined), settings: {} });
const commandLine = (permissions: NonNullable<Layer["settings"]["permissions"]>): Layer => ({
  source: "command-line",
  settings: { permissions },
});

describe("rules", () => {
  test("flags and settings are joined, and settings may also ask", () => {
    const { rules, unread } = read(commandLine({ allow: ["Bash(ls:*)"], deny: ["Write"] }), {
      source: "user",
      settings: {
        permissions: { allow: ["Read"], ask: ["Bash(git push:*)"], deny: ["Edit(/etc/hosts)"] },
      },
    });
    expect(unread).toEqual([]);
    const texts = (list: readonly { text: string }[]) => list.map(({ text }) => text);
    expect(texts(rules.allow)).toEqual(["Read", "Bash(ls:*)"]);
    expect(texts(rules.ask)).toEqual(["Bash(git push:*)"]);
    expect(texts(rules.deny)).toEqual(["Edit(/etc/hosts)", "Write"]);
  });

  test("what is no rule is told by its words and becomes none", () => {
    const { rules, unread } = read(commandLine({ allow: ["Bash(", "Read"], deny: ["; rm"] }));
    expect(rules.allow.map(({ text }) => text)).toEqual(["Read"]);
    expect(rules.deny).toEqual([]);
    expect(unread.map(({ problem }) => problem.split(" is not")[0])).toEqual([
      '"Bash(" (allow)',
      '"; rm" (deny)',
    ]);
  });
});

describe("a rule that cannot be read", () => {
  const unreadIn = (source: Layer["source"], list: "allow" | "ask" | "deny") =>
    read({ source, settings: { permissions: { [list]: ["Bash(rm"] } } }).unread;

  test("and was to forbid something is refused where it was said for this start", () => {
    for (const source of ["command-line", "flags"] as const)
      for (const list of ["deny", "ask"] as const)
        expect(() => refuseLost(unreadIn(source, list)), `${source} ${list}`).toThrow(
          "nothing is started without",
        );
  });

  test("is passed over in a file, and where it allows", () => {
    for (const source of ["managed", "local", "project", "user"] as const)
      refuseLost(unreadIn(source, "deny"));
    refuseLost(unreadIn("command-line", "allow"));
  });

  test("is known when it is an administrator's", () => {
    expect(isForbiddingLost(unreadIn("managed", "deny"))).toBe(true);
    expect(isForbiddingLost(unreadIn("managed", "ask"))).toBe(true);
    expect(isForbiddingLost(unreadIn("managed", "allow"))).toBe(false);
    expect(isForbiddingLost(unreadIn("user", "deny"))).toBe(false);
  });
});

describe("tools that are offered", () => {
  const tools = [tool("Bash"), tool("Agent", ["Task"]), tool("Read")];
  const offered = (...deny: string[]) =>
    offeredTools(tools, read(commandLine({ deny })).rules).map(({ name }) => name);

  test("a tool that is denied by its bare name, or by an old one, is not offered", () => {
    expect(offered("Bash", "Task")).toEqual(["Read"]);
  });

  test("a tool of which only some uses are denied still is", () => {
    expect(offered("Bash(rm:*)")).toEqual(["Bash", "Agent", "Read"]);
  });
});

test("every rule carries the source that it came from", () => {
  const sources = ["managed", "command-line", "flags", "local", "project", "user"] as const;
  const { rules } = read(
    ...sources.map((source): Layer => ({ source, settings: { permissions: { deny: [`Bash(${source})`] } } })),
  );
  expect(rules.deny.map(({ text, source }) => [text, source])).toEqual(
    sources.toReversed().map((source) => [`Bash(${source})`, source]),
  );
});
