// The law of the screen can be broken: each way of it is told.
import xterm from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { nextFrame, nothingDrawn } from "../keel/src/hosts/tui/writer/frame.ts";
import { brokenByBytes, watchFrames } from "./tui/law.ts";

const size = { columns: 20, rows: 8 };
const look = {
  theme: { depth: "none", background: "dark", links: false },
  profile: { emoji: 2, joined: true, picture: 2, flag: 2 },
  wrap: "words",
  reflow: "all",
} as const;

/** Frames as the writer makes them, one after the other. */
function framesOf(...feet: (readonly string[])[]): string {
  let drawn = nothingDrawn(size);
  return feet
    .map((rows, index) => {
      const foot = { lines: rows.map((text) => [{ text }]), cursor: null };
      const printed = [{ spans: [{ text: `${index} ${"x".repeat(30)}` }], wrap: "words" as const }];
      const { bytes, after } = nextFrame(drawn, { printed, foot, size, look });
      drawn = after;
      return bytes;
    })
    .join("");
}

async function watched(bytes: string) {
  const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
  const watch = watchFrames(terminal);
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  return { ...watch, faults: [...watch.faults] };
}

describe("the law of the screen", () => {
  test("is kept by frames with a low, narrow foot", async () => {
    const found = await watched(framesOf(["a", "b"], ["a", "b", "c", "d"], ["status"]));
    expect(found.faults).toEqual([]);
    expect(found.frames()).toBe(3);
    expect(found.tallest()).toBe(4);
  });

  test.each<[string, string, string]>([
    [
      "a row at the edge",
      framesOf(["y".repeat(19)], ["z"]),
      `a row of the foot reached the edge: ${"y".repeat(19)}`,
    ],
    ["a tall foot", framesOf(["a", "b", "c", "d", "e"], ["z"]), "the foot had 5 of 8 rows"],
    ["a cleared screen", "\u001b[2J", "CSI 2J was sent"],
    ["a cleared scrollback", "\u001b[3J", "CSI 3J was sent"],
    ["another screen", "\u001b[?1049h", "another screen was taken"],
    ["a region", "\u001b[2;5r", "a region was set to scroll"],
    ["frames in frames", "\u001b[?2026h\u001b[?2026h", "a frame began within a frame"],
  ])("is broken by %s", async (_, bytes, said) => {
    expect((await watched(bytes)).faults).toEqual([said]);
  });

  test("is broken by feet that reach the edge of a narrower screen, once one has not", async () => {
    const terminal = new xterm.Terminal({ cols: 20, rows: 8, allowProposedApi: true });
    const watch = watchFrames(terminal);
    const write = (bytes: string): Promise<void> => new Promise((done) => terminal.write(bytes, done));
    terminal.resize(12, 8);
    await write(framesOf(["y".repeat(18)], ["y".repeat(18)]));
    expect([...watch.faults, watch.isUnsettled()]).toEqual([true]);
    await write(framesOf(["a"], ["b"], ["y".repeat(18)], ["b"]));
    expect([...watch.faults, watch.isUnsettled()]).toEqual([
      `a row of the foot reached the edge: ${"y".repeat(12)}`,
      false,
    ]);
  });

  test("is broken by what is drawn outside of a frame, as long as the screen is there", () => {
    const on = "\u001b[?2004h";
    const off = "\u001b[?2004l";
    expect(brokenByBytes(`before${on}${framesOf(["a"])}\u0007\u001b]2;title\u001b\\${off}after`)).toEqual([]);
    expect(brokenByBytes(`${on}${framesOf(["a"])}loose${off}`)).toEqual(['outside of a frame: "loose"']);
    expect(brokenByBytes(`${on}\u001b[A`)).toEqual([String.raw`outside of a frame: "\u001b[A"`]);
  });
});
