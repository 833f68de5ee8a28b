import { expect, test } from "vitest";
import { commands } from "./command-table.ts";
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
