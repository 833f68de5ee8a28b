import { describe, expect, test } from "vitest";
import { commands } from "./command-table.ts";
import type { Context } from "./context.ts";

describe("every command", () => {
  test.each(
    commands.filter(({ usage }) => !takesWords(usage)).map((command) => [command.name, command] as const),
  )("keel %s takes no word that it would pass over", async (_, command) => {
    // Wrong use is found before anything is looked at or loaded.
    await expect(command.start(["stray"], {} as Context)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining('"stray"'),
    });
  });

  test("says in its line of usage whether it takes words", () => {
    expect(commands.filter(({ usage }) => takesWords(usage)).length).toBeGreaterThan(20);
    expect(takesWords("keel doctor [--json] [--bundle FILE [--session ID]]")).toBe(false);
    expect(takesWords("keel mcp serve [--model NAME]")).toBe(false);
    expect(takesWords("keel trust [FOLDER] [--yes]")).toBe(true);
  });
});

/** Whether something is left of the line without its options. */
function takesWords(usage: string): boolean {
  const options = /\[-[^[\]]*(?:\[[^\]]*\])?\]|\[OPTIONS\]|\(--script[^)]*\)/g;
  return /[A-Z(]/.test(usage.replace(options, ""));
}
