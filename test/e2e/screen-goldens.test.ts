// Every row, display, question and screen as it stands on a real terminal, at three widths: pinned as text. Written anew
// by `KEEL_WRITE_GOLDEN=1`.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { expectFrames } from "../tui/law.ts";
import { type PlayOptions, playScenes } from "../tui/play.ts";
import { goldenScenes } from "../tui/scenes.ts";
import type { Screen } from "../tui/screen.ts";
import { temporaryFolder } from "../tui/stage.ts";

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

type Look = Pick<PlayOptions, "columns" | "env">;

/** Scene after scene on one terminal. */
async function shownOn(look: Look, scenes = goldenScenes): Promise<string> {
  const parts: string[] = [];
  const screen = await playScenes({
    ...look,
    scenes,
    folder: temporaryFolder(),
    picture: ({ scene, index, said, screen: now }) => {
      parts.push(said === "" ? `=== ${scene}\n${sceneOf(now, index)}` : `--- ${said}\n${footOf(now)}`);
    },
  });
  expectFrames(screen);
  return `${parts.join("\n\n")}\n`;
}

test("every row, display and question stands on a terminal as it did, at three widths", async () => {
  verifies("S4.71", "S4.72");
  const widths = [20, 80, 200];
  const shown = await Promise.all(widths.map((columns) => shownOn({ columns })));
  for (const [index, columns] of widths.entries()) holdToGolden(String(columns), shown[index] ?? "");
});

test("without colours, and in signs that every terminal has, 40 columns show as much", async () => {
  verifies("S4.71", "P51");
  const scenes = goldenScenes.filter(({ name }) => fewScenes.includes(name));
  expect(scenes).toHaveLength(fewScenes.length);
  const looks = {
    "40-no-color": { columns: 40, env: { NO_COLOR: "1" } },
    "40-ascii": { columns: 40, env: { LC_ALL: "C", NO_COLOR: "1" } },
  };
  const shown = await Promise.all(Object.values(looks).map((look) => shownOn(look, scenes)));
  for (const [index, name] of Object.keys(looks).entries()) holdToGolden(name, shown[index] ?? "");
  expect(shown[1]).not.toMatch(/[…›▍◐·─█░]/);
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

function holdToGolden(name: string, shown: string): void {
  const golden = path.join(goldens, `${name}.txt`);
  if (isWriting) writeFileSync(golden, shown);
  else expect(shown).toBe(readFileSync(golden, "utf8"));
}
