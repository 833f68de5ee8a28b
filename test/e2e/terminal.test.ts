// A person at the terminal: asked once, once and for all, or told no; and Ctrl-C.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { everything } from "../support/mcp-stage.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, type Running, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

const touches = byPosition([
  reply(toolUse("Bash", { command: "touch one" })),
  reply(toolUse("Bash", { command: "touch one; touch two" })),
  reply(toolUse("Bash", { command: "touch one" })),
  reply("the end"),
]);

const kinds = byPosition([
  reply(toolUse("Bash", { command: "touch one" })),
  reply(toolUse("Bash", { command: "touch two" })),
  reply(toolUse("Bash", { command: "mkdir three" })),
  reply("the end"),
]);

describe("questions", () => {
  test("yes once, no by default, and a question that shows what would run", async () => {
    if (!hasTerminal()) return notRunHere("questions on a terminal", "script of util-linux absent");
    const stage = await openStage(touches);
    const running = startOnTerminal(["-p", "go"], stage);
    await answer(running, 1, "o\n");
    await answer(running, 2, "\n");
    await answer(running, 3, "what?\n");
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain("│ touch one; touch two");
    expect(ended.stdout).toContain("the end");
    expect(existsSync(path.join(stage.project, "one"))).toBe(true);
    expect(existsSync(path.join(stage.project, "two"))).toBe(false);
    const closed = stage.log().filter(({ type }) => type === "ask.closed");
    expect(closed.map((event) => (event["answer"] as { verdict: string }).verdict)).toEqual([
      "allow",
      "deny",
      "deny",
    ]);
    expect(closed.map(({ by }) => by)).toEqual(["host", "host", "host"]);
  });

  test("always holds for that kind of command, for the rest of the session, and says what else it means", async () => {
    if (!hasTerminal()) return notRunHere("questions on a terminal", "script of util-linux absent");
    const stage = await openStage(kinds);
    const running = startOnTerminal(["-p", "go"], stage);
    await answer(running, 1, "always\n");
    await answer(running, 2, "n\n");
    const ended = await running.ended;
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("Bash(touch:*)");
    expect(ended.stdout).toMatch(/that is: every command that starts with the words "touch"/);
    expect(stage.log().filter(({ type }) => type === "ask.opened")).toHaveLength(2);
    expect(existsSync(path.join(stage.project, "two"))).toBe(true);
    expect(existsSync(path.join(stage.project, "three"))).toBe(false);
    expect(existsSync(path.join(stage.project, ".keel"))).toBe(false);
  });

  test("a rule is kept where the person says, and counts in the next session once the project is trusted", async () => {
    if (!hasTerminal()) return notRunHere("questions on a terminal", "script of util-linux absent");
    const stage = await openStage(kinds);
    const file = path.join(stage.project, ".keel/settings.local.json");
    const running = startOnTerminal(["-p", "go"], stage);
    await answer(running, 1, "al\n");
    await answer(running, 2, "n use what is there\n");
    const ended = await running.ended;
    expect(ended.stdout).toContain("It counts when the project is trusted");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ permissions: { allow: ["Bash(touch:*)"] } });
    expect(JSON.stringify(stage.server.requests.at(-1)?.body["messages"])).toContain("use what is there");
    rmSync(path.join(stage.project, "two"));
    await stage.run(["-p", "go"]);
    expect(existsSync(path.join(stage.project, "two"))).toBe(false);
    await stage.run(["trust", "add"]);
    await stage.run(["-p", "go"]);
    expect(existsSync(path.join(stage.project, "two"))).toBe(true);
  });

  test("a command cannot hide in escape sequences, and what was typed before the question is no answer", async () => {
    if (!hasTerminal()) return notRunHere("questions on a terminal", "script of util-linux absent");
    const command = "echo safe\u001b[2K\r\u202etouch hidden";
    const stage = await openStage(
      byPosition([replyWith({ delayMs: 300 }, toolUse("Bash", { command })), reply("the end")]),
    );
    const running = startOnTerminal(["-p", "go"], stage);
    running.child.stdin?.write("y\n");
    await answer(running, 1, "\n");
    const ended = await running.ended;
    expect(ended.stdout).toContain("echo safe⟨U+001B⟩[2K⟨U+000D⟩⟨U+202E⟩touch hidden");
    expect(ended.stdout).not.toContain("\u001b");
    expect(stage.log().find(({ type }) => type === "tool.finished")).toMatchObject({
      denied: { by: "host" },
    });
  });
});

describe("Ctrl-C", () => {
  test("interrupts the turn while a question is open", async () => {
    if (!hasTerminal()) return notRunHere("Ctrl-C on a terminal", "script of util-linux absent");
    const stage = await openStage(touches);
    const running = startOnTerminal(["-p", "go"], stage);
    await answer(running, 1, "\u0003");
    expect((await running.ended).code).toBe(130);
    expect(existsSync(path.join(stage.project, "one"))).toBe(false);
    const finished = stage.log().find(({ type }) => type === "turn.finished");
    expect(finished).toMatchObject({ reason: "interrupted" });
  });
});

test("a form of a server is asked field by field, with defaults, and what does not fit is asked again", {
  timeout: 90_000,
}, async () => {
  if (!hasTerminal()) return notRunHere("forms on a terminal", "script of util-linux absent");
  verifies("P45");
  const stage = await openStage(
    byPosition([reply(toolUse("mcp__any__trigger-elicitation-request", {})), reply("the end")]),
  );
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(
    path.join(stage.home, "settings.json"),
    JSON.stringify({
      mcpServers: { any: { command: process.execPath, args: [everything, "stdio"] } },
      mcp: { startMs: 60_000, connectMs: 60_000 },
      permissions: { allow: ["mcp__any"] },
    }),
  );
  const running = startOnTerminal(["-p", "go"], stage);
  // Yes to the form; a name; terms; the story's default; a wrong address and a right one; then defaults.
  const lines = ["y", "Ada", "no", "", "nowhere", "ada@a.org", "", "", "77", "", "2", "1 2"];
  for (const [index, line] of lines.entries()) await answer(running, index + 1, `${line}\n`);
  let asked = lines.length;
  // Whatever else the form has: its default.
  const more = async (): Promise<boolean> => {
    if (running.out().split("] > ").length - 1 > asked) {
      asked += 1;
      await answer(running, asked, "\n");
    }
    return running.out().includes("the end");
  };
  await until("the end", more);
  expect((await running.ended).code).toBe(0);
  const closed = stage.log().find(({ type }) => type === "ask.closed");
  expect(closed).toMatchObject({
    by: "host",
    answer: {
      verdict: "allow",
      data: {
        name: "Ada",
        check: false,
        firstLine: "It was a dark and stormy night.",
        email: "ada@a.org",
        integer: 77,
        number: 3.14,
        untitledSingleSelectEnum: "Rachel",
        untitledMultipleSelectEnum: ["Guitar", "Piano"],
        titledSingleSelectEnum: "hero-1",
      },
    },
  });
  expect(JSON.stringify(closed)).not.toContain("birthdate");
  expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("ada@a.org");
});

test("without arguments it opens its screen, and without a terminal it says how to go on", async () => {
  if (!hasTerminal()) return notRunHere("the screen on a terminal", "script of util-linux absent");
  const stage = await openStage({ replies: [] });
  const running = startOnTerminal([], { ...stage, env: { ...stage.env, ANTHROPIC_API_KEY: "none" } });
  await until("the input", () => running.out().includes("commands"));
  running.child.stdin?.write("\u0004");
  expect((await running.ended).code).toBe(0);
  const without = await stage.run([]);
  expect(without.code).toBe(64);
  expect(without.stderr).toContain("keel -p");
});

/** Waits for the question with this number and types. */
async function answer(running: Running, number: number, keys: string): Promise<void> {
  await until(
    `question ${number}`,
    () => running.out().split("] > ").length > number || running.child.exitCode !== null,
  );
  running.child.stdin?.write(keys);
}
