// Every row, display, question and screen as it stands on a real terminal, at three widths: pinned as text. Written anew
// by `KEEL_WRITE_GOLDEN=1`.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { expectFrames } from "../tui/law.ts";
import { goldenScenes } from "../tui/scenes.ts";
import { openScreen, type Screen } from "../tui/screen.ts";
import { temporaryFolder } from "../tui/stage.ts";

const goldens = path.resolve(import.meta.dirname, "../golden/screens");
const child = path.resolve(import.meta.dirname, "../tui/fed-child.ts");
const isWriting = process.env["KEEL_WRITE_GOLDEN"] === "1";

/** The rows since the scene began, as they are seen. */
function sceneOf({ terminal }: Screen, index: number): string {
  const { active } = terminal.buffer;
  const rows: string[] = [];
  for (let row = 0; row < active.length; row++) rows.push(active.getLine(row)?.translateToString(true) ?? "");
  const from = rows.lastIndexOf(`=== ${index}`);
  const shown = rows.slice(from + 1);
  while (shown.at(-1) === "") shown.pop();
  return shown.join("\n");
}

/** The lower half of the screen, where what is typed changes something. */
function footOf(screen: Screen): string {
  const rows = screen.rows();
  while (rows.at(-1) === "") rows.pop();
  const from = rows.findLastIndex((row) => row.startsWith("=== "));
  return rows.slice(Math.max(from + 1, rows.length - 15)).join("\n");
}

/** Scene after scene at one width. */
async function shownAt(columns: number, folder: string): Promise<string> {
  const screen = openScreen({
    command: process.execPath,
    parameters: ["--disable-warning=ExperimentalWarning", child, path.join(folder, "scenes.json")],
    cwd: folder,
    columns,
    rows: 30,
    env: { PATH: process.env["PATH"], COLORFGBG: "15;0" },
  });
  onTestFinished(() => screen.kill("SIGKILL"));
  let title = "";
  screen.terminal.onTitleChange((words) => {
    title = words;
  });
  const parts: string[] = [];
  for (const [index, { name, keys = [] }] of goldenScenes.entries()) {
    await screen.until(`scene ${name}`, () => title === `still ${index}`);
    await screen.settled(120);
    parts.push(`=== ${name}\n${sceneOf(screen, index)}`);
    for (const { say, type } of keys) {
      const before = screen.written.length;
      screen.type(type);
      await screen.until(`an answer to ${say}`, ({ written }) => written.length > before);
      await screen.settled(200);
      parts.push(`--- ${say}\n${footOf(screen)}`);
    }
    process.kill(screen.pid, "SIGUSR2");
  }
  await screen.ended;

  expectFrames(screen);
  return `${parts.join("\n\n")}\n`;
}

test("every row, display and question stands on a terminal as it did, at three widths", async () => {
  verifies("S4.71", "S4.72");
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, "scenes.json"), JSON.stringify(goldenScenes));
  const widths = [20, 80, 200];
  const shown = await Promise.all(widths.map((columns) => shownAt(columns, folder)));
  for (const [index, columns] of widths.entries()) {
    const golden = path.join(goldens, `${columns}.txt`);
    if (isWriting) writeFileSync(golden, shown[index] ?? "");
    else expect(shown[index]).toBe(readFileSync(golden, "utf8"));
  }
});
