// The eleven tools on real files and processes, and through a desktop that remembers what it was told.
import { symlinkSync, truncateSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { makeWorld, readPathRows } from "../../../../test/corpus/path-rows.ts";
import { realTools } from "../../../../test/support/real-tools.ts";
import { realWorkspace } from "../../../../test/support/real-workspace.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { DesktopPlatform } from "../../ports/desktop.ts";
import type { ToolContext } from "../../ports/tool.ts";
import { desktopTools } from "./desktop-tools.ts";

const tools = realTools();
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A desktop with a clipboard and a screen of one dot. */
function fakeDesktop(): DesktopPlatform & { readonly opened: string[] } {
  let clipboard = "";
  const opened: string[] = [];
  return {
    opened,
    readClipboard: async () => ({ ok: true, text: clipboard }),
    async writeClipboard(words) {
      clipboard = words;
      return { ok: true };
    },
    screenshot: async (part) =>
      part === "region"
        ? { ok: false, kind: "timed_out", why: "Nothing was chosen." }
        : { ok: true, png: pixel },
    async open(target) {
      opened.push(target);
      return { ok: true };
    },
  };
}

const megabyte = 1024 * 1024;
const toolNamed = (name: string, platform: DesktopPlatform = fakeDesktop()) => {
  const all = desktopTools({ platform, maxFileBytes: 10 * megabyte });
  const found = all.find((tool) => tool.name === `mcp__desktop-assistant-tools__${name}`);
  if (!found) throw new Error(name);
  return found;
};
const call = (name: string, input: unknown, platform?: DesktopPlatform) =>
  tools.call(toolNamed(name, platform), input);
const spoken = ({ said }: { said: string }): unknown => JSON.parse(said);

test("there are eleven, of one server", () => {
  verifies("S1.10");
  const names = desktopTools({ platform: fakeDesktop(), maxFileBytes: 1 }).map(({ name }) => name);
  expect(names.map((name) => name.replace("mcp__desktop-assistant-tools__", "")).toSorted()).toEqual([
    "analyze_image",
    "capture_screenshot",
    "get_system_info",
    "list_files",
    "open_in_default_app",
    "read_clipboard",
    "read_file",
    "run_shell_command",
    "search_files",
    "write_clipboard",
    "write_file",
  ]);
});

describe("files", () => {
  test("are listed, written, read and found", async () => {
    verifies("S1.11");
    tools.put("b/deep.md", "deep");
    tools.put(".hidden", "h");
    expect(await call("write_file", { path: "a/new.txt", content: "hello" }).then(spoken)).toMatchObject({
      path: "a/new.txt",
      size: 5,
    });
    expect(tools.get("a/new.txt")).toBe("hello");
    expect(await call("list_files", {}).then(spoken)).toMatchObject({
      entries: [
        { name: ".hidden", type: "file", path: ".hidden" },
        { name: "a", type: "directory", path: "a" },
        { name: "b", type: "directory", path: "b" },
      ],
    });
    expect(await call("read_file", { path: "a/new.txt" }).then(spoken)).toEqual({
      path: "a/new.txt",
      content: "hello",
      size: 5,
    });
    expect(
      await call("search_files", { pattern: "**/*.{md,txt}", maxResults: 1 }).then(spoken),
    ).toMatchObject({
      files: [expect.stringMatching(/^(a\/new\.txt|b\/deep\.md)$/)],
    });
  });

  test("of more than 10 MB are neither read nor written", async () => {
    verifies("S1.18");
    tools.put("large.txt", "");
    truncateSync(path.join(tools.cwd, "large.txt"), 10 * megabyte + 1);
    expect(await call("read_file", { path: "large.txt" })).toMatchObject({ failed: true });
    const content = "x".repeat(10 * megabyte + 1);
    expect(await call("write_file", { path: "more.txt", content })).toMatchObject({ refused: true });
  });

  test("outside of the allowed folders are refused without a question, also where a link leads there later", async () => {
    verifies("S1.16");
    for (const [name, input] of [
      ["read_file", { path: "/etc/hostname" }],
      ["write_file", { path: "../x.txt", content: "" }],
      ["list_files", { path: ".." }],
      ["search_files", { pattern: "/etc/*" }],
      ["analyze_image", { path: "/etc/hostname" }],
      ["open_in_default_app", { target: "/etc/hostname" }],
    ] as const)
      expect(await call(name, input), name).toMatchObject({ refused: true });
    const swapped = await tools.call(
      toolNamed("read_file"),
      { path: "later" },
      { between: () => symlinkSync("/etc/hostname", path.join(tools.cwd, "later")) },
    );
    expect(swapped.failed).toBe(true);
    expect(swapped.said).not.toContain("content");
  });
});

test("every row of the path corpus that names a place outside is refused by the tool that it is about", async () => {
  verifies("S1.16");
  const kinds: Readonly<Record<string, (file: string) => [string, object]>> = {
    Read: (file) => ["read_file", { path: file }],
    Write: (file) => ["write_file", { path: file, content: "x" }],
    Glob: (pattern) => ["search_files", { pattern }],
  };
  const rows = readPathRows().filter(
    ({ tool, expect: expected, race, needsNonRoot, cwd }) =>
      tool in kinds && expected === "outside" && !race && !needsNonRoot && cwd === undefined,
  );
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const world = await makeWorld(row);
    const [name, input] = kinds[row.tool]?.(world.fill(row.path)) ?? ["", {}];
    const tool = toolNamed(name);
    const roots = [world.project, ...row.extraDirs.map(world.fill)];
    const workspace = realWorkspace({ cwd: world.project, roots });
    const context = { workspace, seen: () => undefined } as unknown as ToolContext;
    const parsed = tool.input.parse(input);
    // A tilde is no home for a tool: then it is a name inside, and nothing is there.
    const claims = parsed.ok ? await tool.claims(parsed.value, context) : [];
    const isInside =
      claims.length > 0 && claims.every(({ target }) => target.startsWith(`${world.project}/`));
    const why = parsed.ok ? await tool.check(parsed.value, context) : "no input";
    expect(isInside || why !== undefined, `${row.id} ${row.path}`).toBe(true);
    await world.close();
  }
});

describe("commands", () => {
  test("are one text that is decided about and run; what an argument holds stays one word", async () => {
    verifies("S1.12", "S1.17");
    const ran = await call("run_shell_command", {
      command: "printf",
      args: ["%s|", "a b", "$(touch no)", "it's"],
    });
    expect(ran.claims).toEqual([
      { action: "execute", target: `printf '%s|' 'a b' '$(touch no)' 'it'\\''s'` },
    ]);
    expect(spoken(ran)).toMatchObject({ stdout: "a b|$(touch no)|it's|", exitCode: 0 });
    expect((await call("run_shell_command", { command: "exit 3" })).failed).toBe(true);
  });

  test("run for as long as they may, which is 10 seconds where nobody says otherwise, and then end", async () => {
    verifies("S1.18");
    const options = { platform: fakeDesktop(), maxFileBytes: megabyte };
    const find = (tool: { name: string }) => tool.name.endsWith("run_shell_command");
    const quick = desktopTools({ ...options, commandMs: 300 }).find(find);
    const ran = quick && (await tools.call(quick, { command: "echo begun; sleep 300" }));
    expect(ran).toMatchObject({ failed: true, data: { timedOut: true, stdout: "begun\n", exitCode: null } });
    expect(desktopTools(options).find(find)?.description).toContain("at most 10 seconds");
  });
});

describe("the desktop", () => {
  test("has a clipboard, a screen and applications", async () => {
    verifies("S1.13", "S1.14", "S1.15");
    const desktop = fakeDesktop();
    await call("write_clipboard", { content: "from the model" }, desktop);
    expect(await call("read_clipboard", {}, desktop).then(spoken)).toEqual({
      content: "from the model",
      length: 14,
    });
    const shot = await call("capture_screenshot", { mode: "window" }, desktop);
    expect(shot.content).toContainEqual({
      type: "image",
      mediaType: "image/png",
      data: pixel.toString("base64"),
    });
    expect(await call("capture_screenshot", { mode: "region" }, desktop)).toMatchObject({
      failed: true,
      data: { error: "timed_out" },
    });
    tools.put("a.png", pixel);
    expect(JSON.parse((await call("analyze_image", { path: "a.png" })).said)).toMatchObject({
      format: "png",
      size: pixel.length,
    });
    tools.put("notes.txt", "x");
    expect((await call("analyze_image", { path: "notes.txt" })).failed).toBe(true);
    await call("open_in_default_app", { target: "notes.txt" }, desktop);
    await call("open_in_default_app", { target: "https://example.com/" }, desktop);
    expect(await call("open_in_default_app", { target: "file:///etc/passwd" }, desktop)).toMatchObject({
      refused: true,
    });
    expect(desktop.opened).toEqual([path.join(tools.cwd, "notes.txt"), "https://example.com/"]);
  });

  test("says on which system it is without being asked about", async () => {
    verifies("S1.13");
    const said = await call("get_system_info", {});
    expect(spoken(said)).toMatchObject({ platform: process.platform, nodeVersion: process.version });
    expect(said.claims).toEqual([]);
  });
});
