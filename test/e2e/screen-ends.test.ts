// However the screen ends, or is put aside, the terminal is as it was: its settings, its modes, its cursor.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { replyWith } from "../../keel/src/testing/reply.ts";
import { countOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";
import type { Screen } from "../tui/screen.ts";
import { command, openScreenStage, ready, type ScreenStage, say } from "../tui/stage.ts";

const csi = "\u001b[";
/** What is switched on, and how it is switched off. */
const modes: readonly (readonly [string, string])[] = [
  [`${csi}?2004h`, `${csi}?2004l`],
  [`${csi}?1004h`, `${csi}?1004l`],
  [`${csi}?2026h`, `${csi}?2026l`],
  [`${csi}?25l`, `${csi}?25h`],
  [`${csi}>1u`, `${csi}<u`],
  [`${csi}22;2t`, `${csi}23;2t`],
];

/** The modes that are still on. */
const left = (written: string): string[] =>
  modes.filter(([on, off]) => written.lastIndexOf(on) > written.lastIndexOf(off)).map(([on]) => on);

type End = { readonly name: string; end(screen: Screen): void | Promise<void> };

const ends: readonly End[] = [
  { name: "the key that ends it", end: (screen) => screen.type("\u0004") },
  { name: "SIGTERM", end: (screen) => process.kill(childOf(screen.pid), "SIGTERM") },
  { name: "SIGHUP", end: (screen) => process.kill(childOf(screen.pid), "SIGHUP") },
  { name: "a crash", end: (screen) => process.kill(childOf(screen.pid), "SIGUSR2") },
  {
    name: "a stop and a return",
    async end(screen) {
      screen.type("\u001a");
      await screen.until("the shell", ({ text }) => text().includes("STOPPED"));
      expect(left(screen.written.join(""))).toEqual([]);
      screen.type("go on\r");
      await ready(screen);
      screen.type("\u0004");
    },
  },
];

/** A shell that notes the terminal's settings before, at a stop, and behind. */
function shellAround({ folder }: ScreenStage): string {
  const file = path.join(folder, "around.sh");
  const crash = path.join(folder, "crash.mjs");
  writeFileSync(crash, `process.on("SIGUSR2", () => { throw new Error("CRASHED"); });\n`);
  writeFileSync(
    file,
    [
      "set -m",
      `stty -g > '${folder}/before'`,
      `NODE_OPTIONS='--import=${crash}' '${command}'`,
      "code=$?",
      `stty -g > '${folder}/behind'`,
      `if [ "$code" -gt 128 ] && jobs %% > /dev/null 2>&1; then`,
      `  echo STOPPED; read words; fg > /dev/null; code=$?; stty -g > '${folder}/behind'`,
      "fi",
      'echo "OVER $code"',
      "",
    ].join("\n"),
  );
  return file;
}

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);

describe("the terminal", () => {
  test("is as it was after every kind of end", { timeout: 3_600_000 }, async () => {
    verifies("S4.71");
    const count = countOf("screen-ends");
    for (let run = 0; run < count; run++) {
      const { name, end } = ends[run % ends.length] ?? { name: "none", end: () => undefined };
      const isWriting = run % 2 === 1;
      const stage = await openScreenStage({
        replies: [replyWith({ betweenMs: 10, chunkChars: 5 }, "Some words. ".repeat(200))],
      });
      const screen = stage.open([shellAround(stage)], {
        command: "/bin/bash",
        unlogged: "it ends in a turn",
      });
      await ready(screen);
      // Some end it at rest, some in the middle of a reply.
      if (isWriting && name !== "the key that ends it" && name !== "a stop and a return") {
        say(screen, "Write");
        await screen.until("a part", ({ text }) => text().includes("Some words."));
      }
      await pause(run % 7);
      await end(screen);
      await screen.until(`the end by ${name}`, ({ text }) => /OVER \d+/.test(text()));
      const noted = (when: string): string => readFileSync(path.join(stage.folder, when), "utf8");
      expect(noted("behind"), name).toBe(noted("before"));
      expect(left(screen.written.join("")), name).toEqual([]);
      await screen.ended;
    }
  });
});
