import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { commands } from "./command-table.ts";
import { helpOn, topics } from "./commands/help-topics.ts";
import type { Context } from "./context.ts";
import { helpFor, helpForGroup } from "./help.ts";

test("every command shows its usage and each of its options", async () => {
  for (const command of commands) {
    const help = await helpFor(command, commands);
    expect(help).toContain(command.usage);
    for (const name of Object.keys(await command.options())) expect(help).toContain(`--${name}`);
  }
});

test("the help of keel itself lists all commands, that of a group only its own", async () => {
  const [root] = commands;
  if (!root) throw new Error("no commands");
  for (const { name } of commands) expect(await helpFor(root, commands)).toContain(`keel ${name}`.trim());
  expect(helpForGroup("sessions", commands)).toContain("keel sessions export");
  expect(helpForGroup("sessions", commands)).not.toContain("doctor");
});

test("no line is wider than a usual terminal's", async () => {
  for (const command of commands) {
    const wide = (await helpFor(command, commands)).split("\n").filter((line) => line.length > 120);
    expect(wide).toEqual([]);
  }
});

/** What `keel help` with these words prints. */
async function helpOnWords(...positionals: string[]): Promise<string> {
  let said = "";
  const out = {
    write(text: string) {
      said += text;
    },
  };
  await helpOn(commands)({ values: {}, positionals }, { out } as unknown as Context);
  return said;
}

test("each topic names commands and pages that there are, and the list of topics each of them", async () => {
  const all = await helpOnWords();
  for (const [name, { commands: named, pages }] of Object.entries(topics)) {
    expect(all).toContain(`keel help ${name} `);
    const said = await helpOnWords(name);
    for (const one of named) expect(said, `${name}: ${one}`).toContain(`  keel ${one}`);
    for (const page of pages)
      expect(existsSync(path.join(import.meta.dirname, "../../../../docs/guide", `${page}.md`)), page).toBe(
        true,
      );
  }
});

test("help on a command is its own help, on a group its commands, and on anything else a sentence", async () => {
  expect(await helpOnWords("sessions", "list")).toContain("--all");
  expect(await helpOnWords("sessions")).toContain("find, read, keep");
  expect(await helpOnWords("permissions", "test")).toContain("Usage: keel permissions test");
  await expect(helpOnWords("constructor")).rejects.toMatchObject({ code: "usage" });
});
