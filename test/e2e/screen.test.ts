// The screen of `keel` on a real terminal: what it prints, what it asks, what it leaves.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { asked, leave, openScreenStage, ready, say } from "../tui/stage.ts";

const long = Array.from(
  { length: 40 },
  (_, line) => `LINE-${line} has some words in it, so that it is a line like others.`,
).join("\n");

describe("a conversation", () => {
  test("stands above the foot, each row once", async () => {
    verifies("S4.35", "S4.71");
    const stage = await openScreenStage({
      replies: [reply("Hello **there**.\n\nWith `code` and\n\n- a list\n- of two"), reply(long)],
    });
    const screen = stage.open();
    await ready(screen);
    say(screen, "Hi");
    await screen.until("the reply", ({ text }) => text().includes("of two"));
    await ready(screen);
    say(screen, "More");
    await screen.until("the long reply", ({ text }) => text().includes("LINE-39"));
    await ready(screen);
    await leave(screen);
    expect(screen.text().match(/LINE-\d+/g)).toHaveLength(40);
    expect(screen.text()).toContain("• a list");
    expect(screen.text()).not.toContain("**");
  });

  test("shows calls, a diff, and asks before a command", async () => {
    verifies("S4.72");
    const stage = await openScreenStage((_request, asked_) => {
      const file = path.join(stage.project, "a.ts");
      const replies = [
        reply("I read it.", toolUse("Read", { file_path: file })),
        reply(
          "I mend it.",
          toolUse("Edit", { file_path: file, old_string: "const a = 1;", new_string: "const a = 2;" }),
        ),
        reply(toolUse("Bash", { command: "touch made && echo two" })),
        reply("Done."),
      ];
      return replies[asked_.assistantTurns] ?? reply("?");
    });
    writeFileSync(path.join(stage.project, "a.ts"), "const a = 1;\n");
    const screen = stage.open(["--permission-mode", "acceptEdits"]);
    await ready(screen);
    say(screen, "Mend it");
    await asked(screen, "Run a command?");
    expect(screen.rows().join("\n")).toContain("touch made && echo two");
    expect(screen.rows().join("\n")).toContain("runs touch, echo");
    screen.type("\r");
    await screen.until("the end", ({ text }) => text().includes("Done."));
    await ready(screen);
    await leave(screen);
    expect(screen.text()).toMatch(/1 − const a = 1;/);
    expect(screen.text()).toMatch(/1 \+ const a = 2;/);
    expect(screen.text()).toContain("   two");
  });

  test("goes on where it was, and its last turns are shown", async () => {
    const stage = await openScreenStage({ replies: [reply("First."), reply("Second.")] });
    const first = stage.open();
    await ready(first);
    say(first, "One");
    await first.until("the reply", ({ text }) => text().includes("First."));
    await ready(first);
    await leave(first);
    const second = stage.open(["--continue"]);
    await second.until("what was said", ({ text }) => text().includes("First."));
    await ready(second);
    say(second, "Two");
    await second.until("the reply", ({ text }) => text().includes("Second."));
    await ready(second);
    await leave(second);
  });

  test("a reply that is cut off and comes again is said to have been", async () => {
    const stage = await openScreenStage({
      replies: [
        replyWith(
          { fault: { kind: "cut", afterEvents: 30 }, chunkChars: 8 },
          "A first line.\nA second line.\nA third line that goes on.\n",
        ),
        reply("The whole reply."),
      ],
    });
    const screen = stage.open([], { live: [/^A \w+ line/, /^\(cut off here: this reply does not count\)$/] });
    await ready(screen);
    say(screen, "Go");
    await screen.until("the reply", ({ text }) => text().includes("The whole reply."));
    await ready(screen);
    await leave(screen);
    const seen = screen.text();
    expect(seen.match(/The whole reply\./g)).toHaveLength(1);
    if (seen.includes("A first line.")) expect(seen).toContain("this reply does not count");
  });
});
