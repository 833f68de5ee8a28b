// Every row, display, question and screen as it stands on a real terminal, at three widths: pinned as text. Written anew
// by `KEEL_WRITE_GOLDEN=1`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { crowdScenes } from "../tui/crowd.ts";
import { expectFrames } from "../tui/law.ts";
import { type PlayOptions, playScenes } from "../tui/play.ts";
import { goldenScenes, recordedEvents } from "../tui/scenes.ts";
import type { Screen } from "../tui/screen.ts";

const goldens = path.resolve(import.meta.dirname, "../golden/screens");
const isWriting = process.env["KEEL_WRITE_GOLDEN"] === "1";

/** The rows since the scene began, as they are seen. */
function sceneOf({ terminal }: Screen, index: number): string {
  const { active } = terminal.buffer;
  const rows: string[] = [];
  for (let row = 0; row < active.length; row++)
    rows.push((active.getLine(row)?.translateToString(true) ?? "").trimEnd());
  const from = rows.lastIndexOf(`=== ${index}`);
  const shown = rows.slice(from + 1);
  while (shown.at(-1) === "") shown.pop();
  return shown.join("\n");
}

/** The lower half of the screen, where what is typed changes something. */
function footOf(screen: Screen): string {
  const rows = screen.rows().map((row) => row.trimEnd());
  while (rows.at(-1) === "") rows.pop();
  const from = rows.findLastIndex((row) => row.startsWith("=== "));
  return rows.slice(Math.max(from + 1, rows.length - 15)).join("\n");
}

type Look = Pick<PlayOptions, "columns" | "rows" | "env">;

/** Scene after scene on one terminal. */
async function shownOn(look: Look, scenes = goldenScenes): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-goldens-"));
  folders.push(folder);
  const parts: string[] = [];
  const screen = await playScenes({
    ...look,
    scenes,
    folder,
    picture: ({ scene, index, said, screen: now }) => {
      parts.push(said === "" ? `=== ${scene}\n${sceneOf(now, index)}` : `--- ${said}\n${footOf(now)}`);
    },
  });
  expectFrames(screen);
  tallest.set(look, screen.watch.tallest());
  return `${parts.join("\n\n")}\n`;
}

const folders: string[] = [];
/** The most rows that the foot had on each of them. */
const tallest = new Map<Look, number>();
const small: Look = { columns: 80, rows: 24 };
let shown: Readonly<Record<string, string>> = {};

/** All at once: they wait more than they work. */
beforeAll(async () => {
  const few = goldenScenes.filter(({ name }) => fewScenes.includes(name));
  expect(few).toHaveLength(fewScenes.length);
  const looks: Readonly<Record<string, Promise<string>>> = {
    ...Object.fromEntries(widths.map((columns) => [String(columns), shownOn({ columns })])),
    "80-by-24": shownOn(small, crowdScenes(recordedEvents("login"))),
    "40-no-color": shownOn({ columns: 40, env: { NO_COLOR: "1" } }, few),
    "40-ascii": shownOn({ columns: 40, env: { LC_ALL: "C", NO_COLOR: "1" } }, few),
  };
  const all = await Promise.all(
    Object.entries(looks).map(async ([name, look]) => [name, await look] as const),
  );
  shown = Object.fromEntries(all);
}, 180_000);

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const widths = [20, 80, 200];

test("every row, display and question stands on a terminal as it did, at three widths", () => {
  verifies("S4.71", "S4.72");
  for (const columns of widths) holdToGolden(String(columns));
});

test("ten agents, a question of 40 lines and a change of 300 take at most 12 rows of 24", () => {
  verifies("S4.72");
  holdToGolden("80-by-24");
  expect(tallest.get(small)).toBeLessThanOrEqual(12);
});

test("without colours, and in signs that every terminal has, 40 columns show as much", () => {
  verifies("S4.71", "P51");
  holdToGolden("40-no-color");
  holdToGolden("40-ascii");
  expect(shown["40-ascii"]).not.toMatch(/[…›▍◐·─█░]/);
});

/** What differs where there are no colours or no signs. */
const fewScenes = [
  "a call that runs",
  "a whole turn, and a question about a command",
  "a change to be allowed",
  "questions",
  "displays",
  "rules",
  "context and cost",
];

function holdToGolden(name: string): void {
  const golden = path.join(goldens, `${name}.txt`);
  if (isWriting) writeFileSync(golden, shown[name] ?? "");
  else expect(shown[name]).toBe(readFileSync(golden, "utf8"));
}
