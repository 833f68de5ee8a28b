// The writer under sizes that change at any moment, also while frames are on their way that were made for another one: each
// line that stays stands there once and in order, and the foot once, as soon as the writer has heard of the size and drawn.
import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { type Drawn, nextFrame, nothingDrawn, type Size } from "../keel/src/hosts/tui/writer/frame.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const look = {
  theme: { depth: "none", background: "dark", links: false },
  profile: { emoji: 2, joined: true, picture: 2, flag: 2 },
  wrap: "words",
} as const;

const steps = 40;
/** No foot is taller than the lowest of the screens: rows that a terminal has pushed out at its top are out of reach. */
const lowest = 10;

type Chance = (least: number, most: number) => number;

function chanceOf(from: number): Chance {
  const { random } = countingIds({ seed: from });
  return (least, most) => least + Math.floor(random() * (most - least + 1));
}

/** Rows whose words say which they are, so that one that is left behind is seen. */
function footOf(step: number, between: Chance, { columns }: Size) {
  const count = between(2, lowest - 2);
  const lines = Array.from({ length: count }, (_, row) => {
    const name = `F${step}.${row}`;
    return [{ text: row === count - 2 ? "" : name.padEnd(between(name.length, columns - 2), "-") }];
  });
  const row = between(0, count - 1);
  return { lines, cursor: { row, column: between(0, columns - 3) } };
}

async function stormOf(from: number): Promise<{ seen: string[]; expected: string[] } | undefined> {
  const between = chanceOf(from);
  const size = (): Size => ({ columns: between(20, 160), rows: between(lowest, 50) });
  let real = size();
  let known = real;
  const terminal = new xterm.Terminal({
    cols: real.columns,
    rows: real.rows,
    scrollback: 10_000,
    allowProposedApi: true,
  });
  const write = (bytes: string): Promise<void> => new Promise((resolve) => terminal.write(bytes, resolve));
  const stays: string[] = [];
  for (let line = between(0, 60); line > 0; line--) {
    stays.push(`B${stays.length}`);
    await write(`B${stays.length - 1}\r\n`);
  }
  let drawn: Drawn = nothingDrawn(known);
  for (let step = 0; step < steps; step++) {
    const what = between(0, 3);
    if (what === 0) {
      real = size();
      terminal.resize(real.columns, real.rows);
      continue;
    }
    // Two of three frames are made for the size that it has heard of last.
    if (what === 1) known = real;
    const printed = Array.from({ length: Math.max(0, between(-1, 2)) }, () => {
      const text = `P${stays.length}${"x".repeat(between(0, 200))}`;
      stays.push(text);
      return { spans: [{ text }], wrap: "terminal" as const };
    });
    const foot = footOf(step, between, known);
    const frame = nextFrame(drawn, {
      printed,
      foot,
      size: known,
      look: { ...look, reflow: "not-the-cursor" },
    });
    drawn = frame.after;
    await write(frame.bytes);
    if (known !== real) continue;
    const seen = linesOf(terminal);
    const expected = [...stays, ...foot.lines.map(([span]) => span?.text ?? "")].filter(
      (text) => text !== "",
    );
    if (seen.join("\n") !== expected.join("\n")) return { seen, expected };
  }
  return undefined;
}

/** As lines: rows of the foot are one to the terminal, and are told apart by the blanks between them. */
function linesOf(terminal: InstanceType<typeof xterm.Terminal>): string[] {
  const { active } = terminal.buffer;
  const lines: string[] = [];
  for (let row = 0; row < active.length; row++) {
    const line = active.getLine(row);
    const text = line?.translateToString(true) ?? "";
    if (line?.isWrapped && !text.startsWith("F")) lines[lines.length - 1] += text;
    else lines.push(text);
  }
  return lines.map((text) => text.trimEnd()).filter((text) => text !== "");
}

/** For its full count. */
const timeout = 3_600_000;

test("sizes that change while frames are on their way leave nothing behind and take nothing away", {
  timeout,
}, async () => {
  verifies("S4.71");
  const count = countOf("screen-sizes");
  const broken: number[] = [];
  for (let run = 0; run < count; run++) if (await stormOf(seed() + run)) broken.push(seed() + run);
  expect(broken).toEqual([]);
});
