// Screens that hardly anybody has: a few rows, few columns, lines that are slow, bytes that no key sends.
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { asked, leave, openScreenStage, ready, say } from "../tui/stage.ts";

const down = "\u001b[B";

test("a question is answered on the lowest screen, and at every size on the way there and back", async () => {
  verifies("S4.71");
  const command = "touch made.txt && echo a-rather-long-command-line-for-a-small-screen";
  const stage = await openScreenStage({
    replies: [reply(toolUse("Bash", { command })), reply("Done.")],
  });
  // No higher: what a terminal pushes out of itself when it is made lower than the foot, nobody can take back.
  const screen = stage.open([], { columns: 80, rows: 12 });
  await ready(screen);
  say(screen, "make it");
  await asked(screen, "Run a command?");
  const choices = ["Allow once", "Allow touch:*", "Say no", "Edit"];
  const pointsAt = (choice: string | undefined): Promise<void> =>
    screen.until(`the pointer at ${choice}`, ({ rows }) => {
      const marked = rows().filter((row) => row.includes(`› ${choice?.slice(0, 9)}`));
      return marked.length === 1 && rows().some((row) => row.includes("Run a command?"));
    });
  for (const [columns, rows] of [
    [80, 8],
    [80, 6],
    [20, 8],
    [20, 6],
    [24, 12],
  ] as const) {
    await screen.resizeStill(columns, rows);
    for (const choice of [...choices.slice(1), choices[0]]) {
      screen.type(down);
      await pointsAt(choice);
    }
  }
  // One row of what it is about is seen at a time, to its last sign.
  await screen.resizeStill(20, 6);
  const seen = new Set<string>();
  for (let page = 0; page < 12; page++) {
    await pointsAt("Allow once");
    for (const row of screen.rows()) seen.add(row.trim());
    screen.type("\u001b[6~");
    await screen.settled(40);
  }
  expect([...seen].join(" ").replaceAll(" ", "")).toContain("screen");
  screen.type("\r");
  await screen.until("the call", () => existsSync(path.join(stage.project, "made.txt")));
  await screen.resizeStill(80, 24);
  await ready(screen);
  await leave(screen);
});

test("an answer of the terminal that comes in two pieces, and signs that there are not, type nothing wrong", async () => {
  const stage = await openScreenStage({ replies: [reply("Heard.")] });
  const screen = stage.open();
  await ready(screen);
  screen.type("\u001b]11;rgb:1e1e");
  await pause(150);
  screen.type("/1e1e/1e1e\u001b\\");
  screen.type("\u001b[97:9999999;2u\u001b[97;1;55296u");
  screen.send(Buffer.from("\u6f22").subarray(0, 2));
  await pause(150);
  screen.send(Buffer.from("\u6f22").subarray(2));
  await screen.until("what was typed", ({ rows }) => rows().some((row) => row.includes("> ��漢")));
  screen.type("\r");
  await screen.until("the reply", ({ text }) => text().includes("Heard."));
  expect((await stage.log()).find(({ type }) => type === "input.accepted")).toMatchObject({
    input: { content: [{ type: "text", text: "��漢" }] },
  });
  await ready(screen);
  await leave(screen);
});
