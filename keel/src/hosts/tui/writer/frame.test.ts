import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { frameAt, withFrame } from "../screen/frames.ts";
import { nextFrame, nothingDrawn, type Size } from "./frame.ts";

const look = {
  theme: { depth: "none", background: "dark", links: false },
  profile: { emoji: 2, joined: true, picture: 2, flag: 2 },
  wrap: "words",
  reflow: "not-the-cursor",
} as const;

test.each([
  ["above the cursor", 2],
  ["below it", 0],
])("a narrower terminal that breaks rows of the foot %s leaves nothing of them behind", async (_, row) => {
  const wide: Size = { columns: 120, rows: 30 };
  const narrow: Size = { columns: 60, rows: 30 };
  const terminal = new xterm.Terminal({ cols: wide.columns, rows: wide.rows, allowProposedApi: true });
  const write = (bytes: string): Promise<void> => new Promise((resolve) => terminal.write(bytes, resolve));
  await write("before\r\n");
  const lines = [10, 100, 10].map((cells) => [{ text: "f".repeat(cells) }]);
  const first = nextFrame(nothingDrawn(wide), {
    printed: [],
    foot: { lines, cursor: { row, column: 5 } },
    size: wide,
    look,
  });
  await write(first.bytes);
  terminal.resize(narrow.columns, narrow.rows);
  const foot = { lines: [[{ text: "foot" }]], cursor: { row: 0, column: 4 } };
  await write(nextFrame(first.after, { printed: [], foot, size: narrow, look }).bytes);
  const { active } = terminal.buffer;
  const seen = Array.from({ length: 30 }, (_row, at) => active.getLine(at)?.translateToString(true) ?? "");
  expect(seen.filter((text) => text !== "")).toEqual(["before", "foot"]);
});

test("no second has more than thirty frames, whatever asks for them", () => {
  let drawn: readonly number[] = [];
  const all: number[] = [];
  let now = 0;
  for (let wish = 0; wish < 3_000; wish++) {
    now += (wish * 7) % 13;
    const at = frameAt(drawn, now, wish % 3 === 0 ? "change" : "key");
    now = Math.max(now, at);
    drawn = withFrame(drawn, now);
    all.push(now);
  }
  for (const [index, at] of all.entries())
    expect((all[index + 30] ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThanOrEqual(1_000);
});
