import { describe, expect, test } from "vitest";
import type { Claim } from "../protocol/tool.ts";
import { ruleSources } from "../protocol/verdict-facts.ts";
import { covers, parseRule, touches } from "./rules.ts";

const ground = { roots: ["/srv/project"], home: "/home/dev" };
const rule = (text: string) => {
  const parsed = parseRule(text);
  if (!parsed) throw new Error(`not a rule: ${text}`);
  return parsed;
};

describe("a rule", () => {
  test.each([
    "",
    "()",
    "Bash()",
    "Bash( )",
    "Bash(git status:*",
    "Bash git",
    "(ls)",
    "Bash(:*)",
    "1Bash",
    "Read()",
    "WebFetch(domain:)",
    "WebFetch(domain:a b)",
    "WebFetch(domain:a/b)",
    "mcp__a__b*(x)",
    "Bash*",
    "Read(a\0b)",
  ])("%j is no rule", (text) => {
    expect(parseRule(text)).toBeUndefined();
  });

  test("about a path means the ground of each question, whatever it was asked before", () => {
    const here = rule("Read(./keys/**)");
    const reads = (target: string, roots: readonly string[], home = "/home/dev") =>
      touches(here, "Read", { action: "read", target }, { roots, home });
    expect(reads("/a/keys/x", ["/a"])).toBe(true);
    expect(reads("/a/keys/x", ["/b"])).toBe(false);
    expect(reads("/b/keys/x", ["/b"])).toBe(true);
    expect(reads("/a/keys/x", ["/b", "/a"])).toBe(true);
    const ofHome = rule("Read(~/keys)");
    const readsHome = (home: string) =>
      touches(ofHome, "Read", { action: "read", target: "/h/one/keys" }, { roots: ["/a"], home });
    expect(["/h/one", "/h/two", "/h/one"].map(readsHome)).toEqual([true, false, true]);
  });

  test("keeps its text and where it comes from", () => {
    expect(ruleSources).toHaveLength(8);
    for (const source of ruleSources)
      expect(parseRule(" Bash(ls:*) ", source)).toMatchObject({ text: "Bash(ls:*)", tool: "Bash", source });
  });
});

describe("a rule about paths", () => {
  const read = (target: string): Claim => ({ action: "read", target });
  test.each([
    ["Read(./.env)", "/srv/project/.env", true],
    ["Read(./.env)", "/srv/project/sub/../.env", true],
    ["Read(./.env)", "/srv/project/sub/.env", false],
    ["Read(.env)", "/srv/project/sub/.env", true],
    ["Read(.env)", "/srv/other/.env", false],
    ["Read(/.env)", "/srv/project/.env", true],
    ["Read(//etc/passwd)", "/etc/passwd", true],
    ["Read(//etc)", "/etc/ssh/key", true],
    ["Read(//etc/)", "/etc/ssh/key", true],
    ["Read(//etc)", "/etcetera", false],
    ["Read(./secrets/)", "/srv/project/secrets/a/b.txt", true],
    ["Read(secrets/)", "/srv/project/deep/secrets/b.txt", true],
    ["Read(./secrets)", "/srv/project/secretsfile", false],
    ["Read(~/.ssh/**)", "/home/dev/.ssh/id_rsa", true],
    ["Read(~/.ssh)", "/home/dev/.ssh/id_rsa", true],
    ["Read(~/.ssh/**)", "/home/other/.ssh/id_rsa", false],
    ["Read(*.pem)", "/srv/project/a/b/c.pem", true],
    ["Read(src/*.ts)", "/srv/project/src/a.ts", true],
    ["Read(src/*.ts)", "/srv/project/src/deep/a.ts", false],
    ["Read(src/**/*.ts)", "/srv/project/src/deep/a.ts", true],
    ["Read(src/**/*.ts)", "/srv/project/src/a.ts", true],
    ["Read(src/{a,b}.ts)", "/srv/project/src/b.ts", true],
    ["Read(../lib/**)", "/srv/lib/x", true],
    ["Read(**)", "/srv/project/x/y", true],
    ["Read(**)", "/srv/x", false],
    ["Read(src/[a-c].ts)", "/srv/project/src/b.ts", true],
  ])("%s is about %s: %s", (text, path, expected) => {
    expect(covers(rule(text), "Read", read(path), ground)).toBe(expected);
    expect(touches(rule(text), "Read", read(path), ground)).toBe(expected);
  });

  test("holds for every tool that does the same, where it denies", () => {
    const write: Claim = { action: "write", target: "/srv/project/a" };
    for (const tool of ["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash"]) {
      expect(touches(rule("Edit(a)"), tool, write, ground)).toBe(true);
      expect(touches(rule("Write(a)"), tool, write, ground)).toBe(true);
    }
    for (const tool of ["Read", "Grep", "Glob", "Bash"])
      expect(touches(rule("Read(a)"), tool, read("/srv/project/a"), ground)).toBe(true);
    expect(touches(rule("Read(a)"), "Write", write, ground)).toBe(false);
  });

  test("allows only what it names", () => {
    const write: Claim = { action: "write", target: "/srv/project/a" };
    expect(covers(rule("Edit(a)"), "Write", write, ground)).toBe(true);
    expect(covers(rule("Write(a)"), "Edit", write, ground)).toBe(false);
    expect(covers(rule("Read(a)"), "Grep", read("/srv/project/a"), ground)).toBe(true);
    expect(covers(rule("Grep(a)"), "Read", read("/srv/project/a"), ground)).toBe(false);
    expect(covers(rule("Read(a)"), "Read", read("/srv/project/a"))).toBe(false);
  });
});

describe("a rule about other things", () => {
  const fetch = (target: string): Claim => ({ action: "fetch", target });
  test.each([
    ["WebFetch(domain:a.org)", "https://a.org/x", true, true],
    ["WebFetch(domain:A.ORG)", "https://a.org./x", true, true],
    ["WebFetch(domain:a.org)", "https://b.a.org/x", false, true],
    ["WebFetch(domain:*.a.org)", "https://b.a.org/x", true, true],
    ["WebFetch(domain:*.a.org)", "https://a.org/x", false, true],
    ["WebFetch(domain:a.org)", "https://nota.org/x", false, false],
    ["WebFetch(domain:a.org)", "https://a.org.evil.net/x", false, false],
    ["WebFetch(domain:a.org)", "https://a.org@evil.net/", false, false],
    ["WebFetch(domain:a.org)", "https://evil.net/?a.org", false, false],
  ])("%s covers %s: %s, touches it: %s", (text, url, covered, touched) => {
    expect(covers(rule(text), "WebFetch", fetch(url))).toBe(covered);
    expect(touches(rule(text), "WebFetch", fetch(url))).toBe(touched);
  });

  const use = (target: string): Claim => ({ action: "use", target });
  test.each([
    ["mcp__git", "mcp__git__push", true],
    ["mcp__git__*", "mcp__git__push", true],
    ["mcp__git__push", "mcp__git__push", true],
    ["mcp__git__push", "mcp__git__pull", false],
    ["mcp__git", "mcp__github__push", false],
    ["Agent", "Agent", true],
    ["agent", "Agent", false],
  ])("%s is about the tool %s: %s", (text, tool, expected) => {
    expect(covers(rule(text), tool, use(tool))).toBe(expected);
    expect(touches(rule(text), tool, use(tool))).toBe(expected);
  });

  test("a name in parentheses is about that kind only", () => {
    expect(covers(rule("Agent(tester)"), "Agent", use("tester"))).toBe(true);
    expect(covers(rule("Agent(tester)"), "Agent", use("writer"))).toBe(false);
    expect(touches(rule("Agent(tester)"), "Agent", use("writer"))).toBe(false);
  });
});

test("a star at the end of a server's name or its tools' stands for what follows", () => {
  const use = (tool: string): Claim => ({ action: "use", target: tool });
  const covered = (words: string, tool: string): boolean => {
    const rule = parseRule(words);
    return rule !== undefined && covers(rule, tool, use(tool)) && touches(rule, tool, use(tool));
  };
  expect(covered("mcp__a__get_*", "mcp__a__get_file")).toBe(true);
  expect(covered("mcp__a__get_*", "mcp__a__set_file")).toBe(false);
  expect(covered("mcp__a__*", "mcp__a__set_file")).toBe(true);
  expect(covered("mcp__a__*", "mcp__ab__set_file")).toBe(false);
  expect(covered("mcp__*", "mcp__ab__set_file")).toBe(true);
  expect(covered("mcp__*", "Bash")).toBe(false);
});
