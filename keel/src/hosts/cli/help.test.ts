import { expect, test } from "vitest";
import { commands } from "./command-table.ts";
import { helpFor, helpForGroup } from "./help.ts";

test("every command shows its usage and each of its options", () => {
  for (const command of commands) {
    const help = helpFor(command, commands);
    expect(help).toContain(command.usage);
    for (const name of Object.keys(command.options)) expect(help).toContain(`--${name}`);
  }
});

test("the help of keel itself lists all commands, that of a group only its own", () => {
  const [root] = commands;
  if (!root) throw new Error("no commands");
  for (const { name } of commands) expect(helpFor(root, commands)).toContain(`keel ${name}`.trim());
  expect(helpForGroup("sessions", commands)).toContain("keel sessions export");
  expect(helpForGroup("sessions", commands)).not.toContain("doctor");
});

test("no line is wider than a usual terminal's", () => {
  for (const command of commands) {
    const wide = helpFor(command, commands)
      .split("\n")
      .filter((line) => line.length > 120);
    expect(wide).toEqual([]);
  }
});
