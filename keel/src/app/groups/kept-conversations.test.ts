import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { say, scriptedHome } from "../../../../test/support/scripted-home.ts";
import { toldMessages } from "../../groups/trigger.ts";
import { asList } from "../../kernel/json.ts";
import { reply } from "../../testing/reply.ts";
import { keepConversations } from "./kept-conversations.ts";

const summary = "Lunch at noon: Ana brings bread.\n\nBo is late.";

/** A group's session that was asked something and then made its conversation shorter. */
async function stageOf(prepare: (folder: string) => void = () => undefined) {
  const at = await scriptedHome(({ messages }) =>
    JSON.stringify(asList(messages).at(-1)).includes("when?")
      ? reply("<internal>They are hungry.</internal>At noon.")
      : reply(summary),
  );
  prepare(at.cwd);
  const session = await at.home.open(at.options);
  const told: string[] = [];
  keepConversations({ id: "lunch", folder: at.cwd, trigger: "@keel" }, session, {
    tell: (what, { why }) => told.push(`${what}: ${why}`),
  });
  const messages = [
    { seq: 1, from: 'Ana "A" <a>', at: Date.UTC(2026, 0, 2, 10), text: "@keel when? <b> & c" },
  ];
  await say(session, toldMessages(messages));
  await session.idle();
  await session.submit({ type: "compact" });
  await session.idle();
  const names = (): string[] => {
    try {
      return readdirSync(path.join(at.cwd, "conversations"));
    } catch {
      return [];
    }
  };
  return { ...at, session, told, names };
}

test("before a conversation is made shorter it is in the folder as Markdown, dated and named", async () => {
  const { names, told, cwd } = await stageOf();
  await expect.poll(() => [...told, ...names()]).toHaveLength(1);
  const [name = ""] = names();
  expect(name).toMatch(/^\d{4}-\d\d-\d\d-lunch-at-noon-ana-brings-bread-\d+\.md$/);
  const page = readFileSync(path.join(cwd, "conversations", name), "utf8");
  expect(page).toMatch(/^# Lunch at noon: Ana brings bread\.\n/);
  expect(page).toContain("Bo is late.");
  expect(page).toContain('**Ana "A" <a>** (2026-01-02 10:00:00): @keel when? <b> & c\n\n**@keel**: At noon.');
  expect(page).not.toContain("hungry");
  expect(told).toEqual([]);
});

test("a link that stands in its place is not followed, and that is told", async () => {
  const { names, told, folder } = await stageOf((cwd) => {
    mkdirSync(path.join(cwd, "..", "elsewhere"));
    symlinkSync("../elsewhere", path.join(cwd, "conversations"));
  });
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toMatch(/^group\.not_kept: .*not a directory/);
  expect(readdirSync(path.join(folder, "elsewhere"))).toEqual([]);
  expect(names()).toEqual([]);
});
