// What the guide shows of a console is what a console shows: the command is typed, and its words are compared.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { examplesOf } from "../docs/examples.ts";
import { notRunHere } from "../support/not-run.ts";
import { openStage, until } from "./stage.ts";
import { hasTerminal, startOnTerminal } from "./terminal.ts";

/** The project that the examples are about. */
const settings = {
  hooks: { SessionStart: [{ hooks: [{ type: "command", command: "./setup.sh" }] }] },
  permissions: { allow: ["Bash(make:*)"] },
};

describe("a console in the guide", () => {
  test.each(examplesOf("console"))("of $page shows what is shown", async ({ text }) => {
    if (!hasTerminal()) return notRunHere("consoles of the guide", "script of util-linux is absent");
    const [, typed = "", shown = ""] = /^\$ keel (.*)\n([\s\S]+)$/.exec(text) ?? [];
    const stage = await openStage({ replies: [] });
    mkdirSync(path.join(stage.project, ".keel"));
    writeFileSync(path.join(stage.project, ".keel/settings.json"), JSON.stringify(settings));
    const running = startOnTerminal(wordsOf(typed), stage);
    const seen = () =>
      running.out().replaceAll("\r\n", "\n").replaceAll(stage.project, "/home/ada/clone").trim();
    const hasEnded = () => running.child.exitCode !== null;
    await until(`${typed} says its last line`, () => hasEnded() || seen().length >= shown.trim().length);
    expect(seen()).toBe(shown.trim());
  });
});

/** The words of a command as a shell takes them apart. */
const wordsOf = (typed: string): string[] =>
  [...typed.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
