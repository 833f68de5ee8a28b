// Between the decision about a command and its run the folder may change: then it is decided again, and not run on what
// was true before.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { realClock, realWorkspace } from "../../../../test/support/real-workspace.ts";
import { openTestSession, type TestSessionOptions } from "../../../../test/support/test-session.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { schemaOf } from "../../kernel/schema.ts";
import { noRules } from "../../policy/decide.ts";
import { parseRule } from "../../policy/rules.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import { text } from "../../protocol/message.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { readTool } from "../../tools/read.ts";
import { nodeCommandPlace } from "../../workspace/git/command-place.ts";
import { openGrammar } from "../../workspace/processes/grammar.ts";

const grammar = openGrammar();

const judging = (root: string) => ({
  grammar,
  home: "/home/dev",
  isTrusted: true,
  place: nodeCommandPlace({ project: root, env: {} }),
});

/** A shell that notes what it would run. */
const noting = (ran: string[]): Tool =>
  defineTool({
    name: "Bash",
    description: "Notes a command.",
    input: schemaOf(z.object({ command: z.string() })),
    claims: async ({ command }) => [{ action: "execute", target: command }],
    async *run({ command }) {
      ran.push(command);
      return { content: [text("done")], display: { kind: "text", text: "done" } };
    },
  }) as Tool;

function folder() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-moment-")));
  for (const name of ["notes.txt", "news.txt"]) writeFileSync(path.join(base, name), "fine\n");
  return base;
}

/** Runs one command and changes the folder once the start of the call is on record, which is after the decision. */
async function runWith(
  { command, root, more }: { command: string; root: string; more?: Partial<TestSessionOptions> },
  change: () => void,
) {
  const ran: string[] = [];
  const workspace = {
    ...realWorkspace({ cwd: root }),
    commands: judging(root),
  };
  const { session, say, all } = await openTestSession({
    clock: realClock,
    tools: [noting(ran)],
    workspace,
    script: { replies: [reply(toolUse("Bash", { command })), reply("Done.")] },
    ...more,
  });
  session.onEvent(({ type }) => {
    if (type === "tool.started") change();
  });
  await say("go");
  return { ran, finished: all("tool.finished"), asked: all("ask.opened") };
}

const outward = (root: string, name: string) => (): void => {
  rmSync(path.join(root, name), { force: true });
  symlinkSync("/etc/hostname", path.join(root, name));
};

describe("a folder that changes after a command was allowed", () => {
  test.each([
    ["cat n*", "notes.txt"],
    ["cat n*", "never.txt"],
    ["cat notes.txt", "notes.txt"],
  ])("%s does not run when %s has become a link that leads outside", async (command, name) => {
    verifies("G23");
    const root = folder();
    const { ran, finished, asked } = await runWith({ command, root }, outward(root, name));
    expect(ran).toEqual([]);
    expect(asked).toEqual([]);
    expect(finished[0]?.denied).toMatchObject({
      by: "rule",
      reason: expect.stringContaining("leads outside"),
    });
  });

  test("what a rule denies by now is not run either, in any mode", async () => {
    const root = folder();
    writeFileSync(path.join(root, ".env"), "secret\n");
    const rules = { ...noRules, deny: [parseRule("Read(.env)") ?? []].flat() };
    const more = { rules, bypass: "allowed", settings: { permissionMode: "bypassPermissions" } } as const;
    const { ran, finished } = await runWith({ command: "cat n*", root, more }, () =>
      symlinkSync(".env", path.join(root, "new")),
    );
    expect(ran).toEqual([]);
    expect(finished[0]?.denied?.reason).toContain("Read(.env)");
  });

  test("a repository that was put there meanwhile is not the one that was decided about", async () => {
    const root = folder();
    mkdirSync(path.join(root, "sub"));
    execFileSync("git", ["init", "-q"], { cwd: root });
    const { ran, finished } = await runWith({ command: "cd sub && git status", root }, () =>
      execFileSync("git", ["init", "-q"], { cwd: path.join(root, "sub") }),
    );
    expect(ran).toEqual([]);
    expect(finished[0]?.denied?.reason).toContain("another repository");
  });

  test("a change that changes nothing about the decision lets it run", async () => {
    const root = folder();
    const { ran } = await runWith({ command: "cat n*", root }, () =>
      writeFileSync(path.join(root, "nothing.txt"), "fine\n"),
    );
    expect(ran).toEqual(["cat n*"]);
  });

  test("what changes with every look is not run", async () => {
    const root = folder();
    const real = realWorkspace({ cwd: root });
    let looks = 0;
    const restless = {
      ...real,
      commands: judging(root),
      files: {
        ...real.files,
        expand: async (pattern: string) => {
          writeFileSync(path.join(root, `n${++looks}`), "fine\n");
          return await real.files.expand(pattern);
        },
      },
    };
    const { ran, finished } = await runWith(
      { command: "cat n*", root, more: { workspace: restless } },
      () => undefined,
    );
    expect(ran).toEqual([]);
    expect(finished[0]?.denied?.reason).toContain("keep changing");
    expect(looks).toBeLessThan(10);
  });

  test("a person's yes holds whatever the folder is like", async () => {
    const root = folder();
    const { ran, asked } = await runWith({ command: "cat n* > out", root }, outward(root, "notes.txt"));
    expect(asked).toHaveLength(1);
    expect(ran).toEqual(["cat n* > out"]);
  });
});

test("a rule that denies a link holds for the tool that reads through it", async () => {
  verifies("G29");
  const root = folder();
  symlinkSync("notes.txt", path.join(root, "innocent"));
  const deny = parseRule("Read(./innocent)", "user");
  const { say, all } = await openTestSession({
    clock: realClock,
    tools: [readTool],
    workspace: { ...realWorkspace({ cwd: root }), commands: judging(root) },
    rules: { ...noRules, deny: deny ? [deny] : [] },
    script: {
      replies: [
        reply(toolUse("Read", { file_path: path.join(root, "innocent") })),
        reply(toolUse("Read", { file_path: path.join(root, "notes.txt") })),
        reply("Done."),
      ],
    },
  });
  await say("go");
  expect(all("tool.finished").map(({ denied }) => denied?.by)).toEqual(["rule", undefined]);
});

test("a command in a person's own words is not run either on what was true before", async () => {
  const root = folder();
  const real = realWorkspace({ cwd: root });
  const looked: string[] = [];
  const files = new Proxy(real.files, {
    get: (target, name) =>
      name === "describe"
        ? async (file: string) => {
            const facts = await target.describe(file);
            // It becomes a link right behind the first look at it.
            if (looked.push(file) === 1) outward(root, "notes.txt")();
            return facts;
          }
        : Reflect.get(target, name).bind(target),
  });
  const workspace = { ...real, files, commands: judging(root) };
  const { session } = await openTestSession({ clock: realClock, tools: [], workspace });
  const verdict = await session.permitCommand({ command: "cat notes.txt", allow: [] });
  expect(verdict).toMatchObject({ ok: false, because: expect.stringContaining("leads outside") });
  expect(await session.permitCommand({ command: "cat news.txt", allow: [] })).toMatchObject({ ok: true });
});
