// What was printed is plain text: who selects an answer and copies it has its words, without borders, each line whole however
// the terminal broke it, and code as it was written.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { command, openScreenStage, ready, type ScreenStage, say } from "../tui/stage.ts";
import { hasTmux, openTmux } from "../tui/tmux.ts";

const words = "and some words that go on and on behind it ";
/** Every third line is broken by the terminal, some of them several times. */
const prose = Array.from(
  { length: 120 },
  (_, line) => `Line ${line} ${words.repeat(line % 3 === 0 ? 1 + (line % 9) : 1)}ends.`,
);
const code = Array.from(
  { length: 80 },
  (_, line) =>
    `${"  ".repeat(line % 4)}const value${line} = compute(${"argument, ".repeat(1 + (line % 15))}0);`,
);
const answer = [...prose, "", "```ts", ...code, "```", "", "That is all."].join("\n");
const copied = [...prose, "", ...code, "", "That is all."];

/** From the first line of the answer to its last. */
const answerIn = (text: string): string[] => {
  const lines = text.split("\n");
  return lines.slice(lines.indexOf(prose[0] ?? ""), lines.indexOf("That is all.") + 1);
};

/** A row that ends before the edge is filled with blanks up to it: they stand between two words of the same line. */
function expectWords(seen: readonly string[]): void {
  expect(seen.slice(0, prose.length).map((line) => line.replace(/ +/g, " "))).toEqual(prose);
  expect(seen.slice(prose.length)).toEqual(copied.slice(prose.length));
}

const stageWith = async (wrap: "words" | "terminal"): Promise<ScreenStage> => {
  const stage = await openScreenStage({ replies: [reply(answer)] });
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ terminal: { wrap } }));
  return stage;
};

describe("an answer of 200 lines", () => {
  test("is copied byte for byte where the terminal breaks lines", async () => {
    verifies("S4.71");
    const stage = await stageWith("terminal");
    const screen = stage.open([], { columns: 100 });
    await ready(screen);
    say(screen, "Write");
    await screen.until("the end", ({ text }) => text().includes("That is all."));
    await ready(screen);
    expect(answerIn(screen.text())).toEqual(copied);
  });

  test("has the same words where they are broken whole, and code byte for byte", async () => {
    verifies("S4.71");
    const stage = await stageWith("words");
    const screen = stage.open([], { columns: 100 });
    await ready(screen);
    say(screen, "Write");
    await screen.until("the end", ({ text }) => text().includes("That is all."));
    await ready(screen);
    expectWords(answerIn(screen.text()));
  });

  test.each([
    ["as it was written, where tmux breaks its lines", "terminal"],
    ["line by line, words broken whole and code as it was written", "words"],
  ] as const)("is selected and copied in tmux %s", async (_, wrap) => {
    verifies("S4.71");
    if (!hasTmux()) return notRunHere("copying in tmux", "tmux absent");
    const stage = await stageWith(wrap);
    const { run, until } = openTmux(stage, `'${command}'`);
    await until("the input", (text) => text.includes("type, / commands"));
    run("send-keys", "Write", "Enter");
    await until("the end", (text) => text.includes("That is all."));
    run("copy-mode");
    for (const key of ["history-top", "start-of-line", "begin-selection", "history-bottom", "end-of-line"])
      run("send-keys", "-X", key);
    run("send-keys", "-X", "copy-selection");
    const seen = answerIn(run("show-buffer"));
    if (wrap === "terminal") expect(seen).toEqual(copied);
    else expectWords(seen);
  });
});
