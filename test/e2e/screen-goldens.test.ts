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

type Look = { readonly columns: number; readonly env?: Readonly<Record<string, string>> };

/** Scene after scene on one terminal. */
async function shownOn({ columns, env = {} }: Look, folder: string, scenes = goldenScenes): Promise<string> {
  const screen = openScreen({
    command: process.execPath,
    parameters: ["--disable-warning=ExperimentalWarning", child, path.join(folder, "scenes.json")],
    cwd: folder,
    columns,
    rows: 30,
    env: { PATH: process.env["PATH"], COLORFGBG: "15;0", ...env },
  });
  onTestFinished(() => screen.kill("SIGKILL"));
  let title = "";
  screen.terminal.onTitleChange((words) => {
    title = words;
  });
  const parts: string[] = [];
  for (const [index, { name, keys = [] }] of scenes.entries()) {
    await screen.until(`scene ${name}`, () => title === `still ${index}`);
    await screen.settled(120);
    parts.push(`=== ${name}\n${sceneOf(screen, index)}`);
    for (const { say, type } of keys) {
      const before = screen.written.length;
      screen.type(type);
      await screen.until(`an answer to ${say}`, ({ written }) => written.length > before);
      await screen.settled(150);
      if (say !== "") parts.push(`--- ${say}\n${footOf(screen)}`);
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
  const shown = await Promise.all(widths.map((columns) => shownOn({ columns }, folder)));
  for (const [index, columns] of widths.entries()) holdToGolden(String(columns), shown[index] ?? "");
});

test("without colours, and in signs that every terminal has, 40 columns show as much", async () => {
  verifies("S4.71", "P51");
  const folder = temporaryFolder();
  const scenes = goldenScenes.filter(({ name }) => fewScenes.includes(name));
  expect(scenes).toHaveLength(fewScenes.length);
  writeFileSync(path.join(folder, "scenes.json"), JSON.stringify(scenes));
  const looks = {
    "40-no-color": { columns: 40, env: { NO_COLOR: "1" } },
    "40-ascii": { columns: 40, env: { LC_ALL: "C", NO_COLOR: "1" } },
  };
  const shown = await Promise.all(Object.values(looks).map((look) => shownOn(look, folder, scenes)));
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
