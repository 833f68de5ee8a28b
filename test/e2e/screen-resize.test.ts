// The window changes while the screen stands: what was there before stays, each line once, and one foot, at every step;
// in a headless terminal and in tmux, at rest and while a reply is written.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { replyWith } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import type { Screen } from "../tui/screen.ts";
import { command, openScreenStage, type ScreenStage, say } from "../tui/stage.ts";
import { hasTmux, openTmux } from "../tui/tmux.ts";

const lines = 80;
const numbered = Array.from(
  { length: lines },
  (_, line) => `LINE-${String(line).padStart(3, "0")} ${"and some words ".repeat(1 + (line % 12))}`,
).join("\n");
/** Most of them break rows of the foot. */
const widths = [118, 108, 90, 128, 60, 134, 40, 20, 97, 20, 33, 134];
const heights = [30, 24, 50, 36];

/** `rows`: as they stand there; the foot is one line to a terminal that would break its rows otherwise. */
const counts = (text: string, rows: string = text) => {
  const found = text.match(/LINE-\d{3}/g) ?? [];
  return {
    before: (text.match(/BEFORE-\d+/g) ?? []).length,
    lines: found.length,
    distinct: new Set(found).size,
    feet: (rows.match(/^claude-haiku-4-5/gm) ?? []).length,
  };
};

/** The command behind 60 lines that stood there before it. */
function startScript({ folder }: ScreenStage): string {
  const file = path.join(folder, "start.sh");
  const source = process.env["KEEL_SCREEN_SOURCE"];
  const keel = source ? `'${process.execPath}' '${source}'` : `'${command}'`;
  writeFileSync(file, `seq -f 'BEFORE-%g' 1 60\nexec ${keel}\n`);
  return file;
}

type When = "at rest" | "while a reply is written";

/**
 * The program hears of a size after the terminal has it, on a busy machine late: until then the foot of before may stand
 * there broken. What is wrong after that stays wrong: rows that were left behind never go away again.
 */
const isOnce = (found: ReturnType<typeof counts>, when: When): boolean =>
  found.before === 60 && found.feet === 1 && found.lines === (when === "at rest" ? lines : found.distinct);

const stageFor = (when: When): Promise<ScreenStage> =>
  openScreenStage({
    replies: [replyWith({ betweenMs: when === "at rest" ? 0 : 40, chunkChars: 60 }, numbered)],
  });

describe("a change of size", () => {
  test.each<When>(["at rest", "while a reply is written"])(
    "leaves everything once %s in a headless terminal that breaks lines anew",
    async (when) => {
      verifies("S4.71");
      await inHeadless(when);
    },
  );

  test("leaves everything once at rest and while a reply is written in tmux", async () => {
    verifies("S4.71");
    if (!hasTmux()) return notRunHere("resize in tmux", "tmux absent");
    // Both at once: tmux draws them, and here is only waited.
    await Promise.all([inTmux("at rest"), inTmux("while a reply is written")]);
  });

  async function inHeadless(when: When): Promise<void> {
    const isWhole = when === "at rest";
    const stage = await stageFor(when);
    const screen = stage.open([startScript(stage)], {
      command: "/bin/sh",
      columns: 134,
      rows: 40,
      live: [/^BEFORE-\d+$/],
    });
    await screen.until("the input", ({ text }) => text().includes("type, / commands"));
    say(screen, "Write");
    await screen.until("the reply", ({ text }) => text().includes(isWhole ? "LINE-079" : "LINE-005"));
    if (isWhole)
      await screen.until("the end", ({ rows }) => rows().some((row) => row.includes("type, / commands")));
    for (const size of [...widths.map((width) => [width, 40]), ...heights.map((height) => [134, height])]) {
      screen.resize(size[0] ?? 80, size[1] ?? 24);
      await screen.settled(isWhole ? 150 : 60).catch(() => undefined);
      await pause(150);
      await screen.until(`everything once, ${when} ${size}`, () =>
        isOnce(counts(screen.text(), rowsOf(screen)), when),
      );
    }
    await screen.until("the end", ({ text }) => text().includes("LINE-079"));
    await screen.settled();
    expect(counts(screen.text(), rowsOf(screen))).toEqual({ before: 60, lines, distinct: lines, feet: 1 });
  }

  async function inTmux(when: When): Promise<void> {
    const isWhole = when === "at rest";
    const stage = await stageFor(when);
    const { run, captured, until } = openTmux(stage, `/bin/sh '${startScript(stage)}'`);
    await until("the input", (text) => text.includes("type, / commands"));
    run("send-keys", "Write", "Enter");
    await until("the reply", (text) => text.includes(isWhole ? "LINE-079" : "LINE-005"));
    for (const [option, size] of [
      ...widths.map((width) => ["-x", width]),
      ...heights.map((height) => ["-y", height]),
    ]) {
      run("resize-window", String(option), String(size));
      await pause(400);
      await until(`everything once, ${when} ${option} ${size}`, (text) => isOnce(counts(text), when));
    }
    await until("the end", (text) => text.includes("LINE-079"));
    await pause(400);
    expect(counts(captured())).toEqual({ before: 60, lines, distinct: lines, feet: 1 });
  }
});

function rowsOf({ terminal }: Screen): string {
  const { active } = terminal.buffer;
  return Array.from(
    { length: active.length },
    (_, row) => active.getLine(row)?.translateToString(true) ?? "",
  ).join("\n");
}
