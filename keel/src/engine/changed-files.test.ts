import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { parseRule } from "../policy/rules.ts";
import { noHooks } from "../ports/hooks.ts";
import { reply, toolUse } from "../testing/reply.ts";
import type { Script } from "../testing/script.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { builtInTools } from "../tools/catalog.ts";

let cwd = "";
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-changed-")));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const at = (name: string): string => path.join(cwd, name);
const read = (...names: string[]) => reply(...names.map((name) => toolUse("Read", { file_path: at(name) })));
const edit = (name: string, old_string: string, new_string: string) =>
  reply(toolUse("Edit", { file_path: at(name), old_string, new_string }));

async function opened(replies: Script["replies"], more: TestSessionOptions = {}) {
  const model = scriptedModel({ replies, otherwise: reply("ok") });
  const session = await openTestSession({
    model,
    tools: builtInTools(),
    workspace: realWorkspace({ cwd }),
    clock: realClock,
    settings: { permissionMode: "acceptEdits" },
    ...more,
  });
  const results = () =>
    session
      .all("tool.finished")
      .map(({ content }) => content.map((part) => ("text" in part ? part.text : "")).join("\n"));
  return { ...session, results, last: () => JSON.stringify(model.requests.at(-1)?.messages) };
}

describe("a file that somebody else has changed since it was read", () => {
  test("is named when the next turn begins, once, and again only after it was read again", async () => {
    for (const name of ["a.txt", "b.txt", "gone.txt"]) writeFileSync(at(name), `old ${name}\n`);
    const { say, last, all } = await opened([
      read("a.txt", "b.txt", "gone.txt"),
      reply("Read."),
      reply("Told."),
      reply("Not told."),
      read("a.txt"),
      reply("Read again."),
    ]);
    await say("read");
    writeFileSync(at("a.txt"), "new a\n");
    rmSync(at("gone.txt"));
    await say("two");
    const named = () => all("context.added").flatMap(({ changed = [] }) => changed);
    expect(named()).toEqual([at("a.txt"), at("gone.txt")]);
    expect(last()).toContain(`- ${at("a.txt")}\\n- ${at("gone.txt")}`);
    expect(last()).not.toContain("new a");
    await say("three");
    await say("four");
    expect(named()).toHaveLength(2);
    writeFileSync(at("a.txt"), "newer a\n");
    await say("five");
    expect(named()).toEqual([at("a.txt"), at("gone.txt"), at("a.txt")]);
  });

  test("is not spoken of where a rule denies it by now, or when the model changed it itself", async () => {
    writeFileSync(at("a.txt"), "one\n");
    writeFileSync(at("secret.txt"), "one\n");
    const deny = [parseRule("Read(//**/secret.txt)")].filter((rule) => rule !== undefined);
    const rules = { allow: [], ask: [], deny: [] as typeof deny };
    const { say, all } = await opened([read("a.txt", "secret.txt"), edit("a.txt", "one", "two")], { rules });
    await say("go");
    rules.deny.push(...deny);
    writeFileSync(at("secret.txt"), "two\n");
    await say("on");
    expect(all("context.added")).toEqual([]);
  });
});

describe("what a hook made of a file right behind an edit", () => {
  /** A formatter as people set one up behind edits. */
  const formatter = (format: (text: string) => string): TestSessionOptions => ({
    hooks: {
      afterTool: async (facts, context) => {
        if (facts.tool === "Edit") writeFileSync(at("a.txt"), format(readFileSync(at("a.txt"), "utf8")));
        return noHooks.afterTool(facts, context);
      },
    },
  });

  test("is shown in the result, and the file can be edited again at once", async () => {
    writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
    const { say, results } = await opened(
      [read("a.txt"), edit("a.txt", "two", "2  ;"), edit("a.txt", "2;", "22;")],
      formatter((text) => text.replaceAll(/ +;/g, ";")),
    );
    await say("go");
    const [, first = "", second = ""] = results();
    expect(first).toContain(`changed ${at("a.txt")}. It now reads:\n2\t2;`);
    expect(first).not.toContain("three");
    expect(second).toContain("+1 -1 lines");
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n22;\nthree\n");
  });

  test("that is too much to show must be read again first", async () => {
    writeFileSync(at("a.txt"), "one\n");
    const { say, results } = await opened(
      [read("a.txt"), edit("a.txt", "one", "two"), edit("a.txt", "two", "three")],
      formatter((text) => text + "more lines\n".repeat(500)),
    );
    await say("go");
    const [, first = "", second = ""] = results();
    expect(first).toContain("Read it again before you edit it.");
    expect(first.length).toBeLessThan(1_000);
    expect(second).toContain("has changed since it was read");
  });

  test("is nothing where no hook changed anything", async () => {
    writeFileSync(at("a.txt"), "one\n");
    const { say, results } = await opened(
      [read("a.txt"), edit("a.txt", "one", "two")],
      formatter((text) => text),
    );
    await say("go");
    expect(results()[1]).not.toContain("hook");
  });
});

describe("a list of tasks", () => {
  const create = reply(toolUse("TaskCreate", { subject: "Find the cause", description: "All of it." }));
  const look = (count: number) => Array.from({ length: count }, (_, step) => read(`${step}.txt`));

  test("that nobody touches for a dozen replies is recalled to the model, and then left alone as long again", async () => {
    for (let step = 0; step < 30; step++) writeFileSync(at(`${step}.txt`), String(step));
    const { say, all } = await opened([create, ...look(28), reply("Done.")]);
    await say("go");
    const reminders = all("context.added").filter(({ why }) => why === "todos");
    expect(reminders).toHaveLength(2);
    expect(JSON.stringify(reminders[0]?.content)).toContain("1. [pending] Find the cause");
  });

  test("that is done, or was changed meanwhile, is not", async () => {
    for (let step = 0; step < 30; step++) writeFileSync(at(`${step}.txt`), String(step));
    const update = (status: string) => reply(toolUse("TaskUpdate", { taskId: "1", status }));
    const { say, all } = await opened([
      create,
      ...look(10),
      update("in_progress"),
      ...look(10),
      update("completed"),
      ...look(15),
    ]);
    await say("go");
    expect(all("context.added")).toEqual([]);
  });
});
