import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ConfigFolder } from "./folders.ts";
import { readLibraryFiles } from "./library-files.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "keel-agents-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};
const folder = (inner: string, more: Partial<ConfigFolder> = {}): ConfigFolder => ({
  path: path.join(root, inner),
  source: "user",
  compatible: false,
  trusted: true,
  ...more,
});
const readAgentFiles = async (folders: readonly ConfigFolder[]) => {
  const { agents: found, problems } = await readLibraryFiles((kind) => (kind === "agents" ? folders : []));
  return { found, problems };
};
const agent = (header: string, prompt = "Look closely."): string => `---\n${header}\n---\n${prompt}\n`;

describe("agents from folders", () => {
  test("have what their header says and their text as prompt", async () => {
    verifies("S1.21");
    verifies("S2.7");
    write(
      "agents/reviewer.md",
      agent(
        "name: reviewer\ndescription: Reads changes\ntools: Read, Grep\ndisallowedTools: [Write]\nmodel: haiku\npermissionMode: plan\nmaxTurns: 5\nskills: commit\neffort: high\nbackground: true",
      ),
    );
    const { found, problems } = await readAgentFiles([folder("agents")]);
    expect(problems).toEqual([]);
    expect(found).toEqual([
      {
        name: "reviewer",
        description: "Reads changes",
        prompt: "Look closely.",
        tools: ["Read", "Grep"],
        disallowedTools: ["Write"],
        model: "haiku",
        effort: "high",
        permissionMode: "plan",
        maxTurns: 5,
        background: true,
        isolation: undefined,
        skills: ["commit"],
        mcpServers: undefined,
        from: "user",
      },
    ]);
  });

  test("are named by their file where the header gives no name, and by their plugin in front", async () => {
    write("agents/deep/one.md", agent("description: d"));
    write("plug/agents/two.md", agent("name: second\ndescription: d"));
    const { found } = await readAgentFiles([
      folder("agents"),
      folder("plug/agents", { source: "plugin", plugin: "plug" }),
    ]);
    expect(found.map(({ name }) => name)).toEqual(["deep:one", "plug:second"]);
  });

  test("of one name count from the stronger folder", async () => {
    write("a/x.md", agent("description: strong"));
    write("b/x.md", agent("description: weak"));
    const { found } = await readAgentFiles([folder("a"), folder("b")]);
    expect(found.map(({ description }) => description)).toEqual(["strong"]);
  });

  test("of a project that nobody trusts have no mode and no servers", async () => {
    write("agents/x.md", agent("description: d\npermissionMode: acceptEdits\nmcpServers: db"));
    const { found } = await readAgentFiles([folder("agents", { source: "project", trusted: false })]);
    expect(found[0]).toMatchObject({ permissionMode: undefined, mcpServers: undefined });
  });

  test("that are none are told and left out", async () => {
    write("agents/empty.md", "---\ndescription: d\n---\n");
    write("agents/mute.md", agent("model: a"));
    write("agents/bad.md", agent("name: a b/c\ndescription: d"));
    write("agents/note.txt", "no agent");
    const { found, problems } = await readAgentFiles([folder("agents")]);
    expect(found).toEqual([]);
    expect(problems.map((problem) => problem.replace(root, ""))).toEqual([
      '/agents/bad.md: "a b/c" is no name for an agent.',
      "/agents/empty.md: an agent needs a prompt below its header.",
      "/agents/mute.md: an agent needs a description.",
    ]);
  });

  test("are not read through a link in a project", async () => {
    write("secret.md", agent("description: outside"));
    mkdirSync(path.join(root, "agents"));
    symlinkSync(path.join(root, "secret.md"), path.join(root, "agents/x.md"));
    const project = folder("agents", { source: "project" });
    expect((await readAgentFiles([project])).found).toEqual([]);
    expect((await readAgentFiles([folder("agents")])).found).toHaveLength(1);
  });
});
