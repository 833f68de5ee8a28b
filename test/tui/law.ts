// The law of the screen. What stays: above the foot stands each finished row exactly once, in order, and nothing else.
// What moves: every frame is one synchronized update and nothing is drawn outside of one; nothing is ever cleared, and no
// other screen is taken; no row of the foot reaches the last two columns, and it has at most half of the screen.
import type xterm from "@xterm/headless";
import { expect } from "vitest";
import type { RowContext } from "../../keel/src/hosts/tui/rows/context.ts";
import { nothingPrinted, takeFinished } from "../../keel/src/hosts/tui/rows/printing.ts";
import { fullSigns } from "../../keel/src/hosts/tui/text/signs.ts";
import { clip, type PrintLine, textOfLine } from "../../keel/src/hosts/tui/text/styled.ts";
import { classicWidths } from "../../keel/src/hosts/tui/text/width.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { foldTranscript, noTranscript } from "../../keel/src/view/transcript.ts";

type Terminal = InstanceType<typeof xterm.Terminal>;

/** What of a screen is held to the law. */
type Shown = {
  readonly terminal: Terminal;
  readonly written: readonly string[];
  readonly watch: FrameWatch;
  lines(): { readonly text: string }[];
};

export type FrameWatch = {
  frames(): number;
  /** The most rows that the foot ever had. */
  tallest(): number;
  /** What was against the law, each kind once. */
  readonly faults: Set<string>;
  /** It has become narrower, and no foot has kept off its edge since. */
  isUnsettled(): boolean;
};

/**
 * Follows what a terminal is told, as it is told. Where the foot begins is known by the next whole frame, which goes up to
 * its first row and erases from there: what stood from that row on, in every frame since the one before, was the foot.
 */
export function watchFrames(terminal: Terminal): FrameWatch {
  const faults = new Set<string>();
  let frames = 0;
  let tallest = 0;
  let isInFrame = false;
  /** Nothing but a way up since the frame began. */
  let isAtStart = false;
  let isResized = false;
  /** Frames that were made before the program heard of it are cut at the edge; the next foot that is not was made for it. */
  let isNarrower = false;
  let columns = terminal.cols;
  /** The row from which on a whole frame has drawn. */
  let firstOfFrame: number | undefined;
  /** Rows that reached the edge, counted from the top of everything. */
  let atEdge = new Map<number, string>();
  const { parser } = terminal;
  const edge = (): void => {
    const { active } = terminal.buffer;
    for (let row = active.baseY; row < active.baseY + terminal.rows; row++) {
      const line = active.getLine(row);
      const isBlank = [terminal.cols - 1, terminal.cols - 2].every(
        (column) => (line?.getCell(column)?.getChars() ?? "").trim() === "",
      );
      if (!isBlank) atEdge.set(row, line?.translateToString(true) ?? "");
    }
  };
  const erased = (): void => {
    const { active } = terminal.buffer;
    const top = active.baseY + active.cursorY;
    if (!isResized) {
      const reached = [...atEdge].filter(([row]) => row >= top);
      if (reached.length === 0) isNarrower = false;
      if (!isNarrower)
        for (const [, text] of reached) faults.add(`a row of the foot reached the edge: ${text}`);
      let last = active.baseY + terminal.rows - 1;
      while (last >= top && (active.getLine(last)?.translateToString(true) ?? "") === "") last--;
      tallest = Math.max(tallest, last - top + 1);
      if (last - top + 1 > Math.max(3, Math.floor(terminal.rows / 2)))
        faults.add(`the foot had ${last - top + 1} of ${terminal.rows} rows`);
    }
    atEdge = new Map();
    firstOfFrame = top;
  };
  const sets = (numbers: readonly (number | number[])[], what: "h" | "l"): void => {
    if (what === "h" && numbers.some((one) => one === 1049 || one === 1047 || one === 47))
      faults.add("another screen was taken");
    if (!numbers.includes(2026)) return;
    if (what === "h") {
      if (isInFrame) faults.add("a frame began within a frame");
      frames++;
      isAtStart = true;
    } else if (isInFrame) {
      edge();
      isResized = false;
      const first = firstOfFrame;
      if (first !== undefined && ![...atEdge.keys()].some((row) => row >= first)) isNarrower = false;
      firstOfFrame = undefined;
    }
    isInFrame = what === "h";
  };
  for (const final of ["h", "l"] as const)
    parser.registerCsiHandler({ prefix: "?", final }, (numbers) => {
      sets(numbers, final);
      return false;
    });
  for (const final of ["B", "C", "K", "H"])
    parser.registerCsiHandler({ final }, () => {
      isAtStart = false;
      return false;
    });
  parser.registerCsiHandler({ final: "J" }, ([kind]) => {
    if (kind === 2 || kind === 3) faults.add(`CSI ${kind}J was sent`);
    if (isAtStart) erased();
    isAtStart = false;
    return false;
  });
  parser.registerCsiHandler({ final: "r" }, () => {
    faults.add("a region was set to scroll");
    return false;
  });
  terminal.onResize(({ cols }) => {
    isResized = true;
    isNarrower ||= cols < columns;
    columns = cols;
    atEdge = new Map();
  });
  return { frames: () => frames, tallest: () => tallest, faults, isUnsettled: () => isNarrower };
}

const esc = "\u001b";
const bel = "\u0007";
const patternOf = (source: string): RegExp => new RegExp(source.replaceAll("E", esc), "g");
const whileThere = patternOf(String.raw`E\[\?2004h([\s\S]*?)(?:E\[\?2004l|$)`);
const frame = patternOf(String.raw`E\[\?2026h[\s\S]*?(?:E\[\?2026l|$)`);
/** All that may be said outside of a frame: modes, questions, a title, a bell. */
const besides = [
  String.raw`E\[\?(?:2004|1004|25)[hl]|E\[\?2026l`,
  String.raw`E\[[<>]1?u|E\[2[23];2t|E\[(?:>q|>?c|0m)`,
  // The question whether pictures are drawn; not a picture.
  String.raw`E_G[^E]*a=q[^E]*E\\`,
  String.raw`E\][^E${bel}]*(?:${bel}|E\\)|${bel}`,
].map(patternOf);

/** What the bytes of a screen say against the law. */
export function brokenByBytes(written: string): string[] {
  return [...written.matchAll(whileThere)]
    .map(([, part = ""]) => [frame, ...besides].reduce((left, one) => left.replace(one, ""), part))
    .filter((loose) => loose !== "")
    .map((loose) => `outside of a frame: ${JSON.stringify(loose.slice(0, 80))}`);
}

export function expectFrames(screen: Shown): void {
  const unsettled = screen.watch.isUnsettled() ? ["no foot kept off the edge of the narrower screen"] : [];
  expect([...screen.watch.faults, ...unsettled, ...brokenByBytes(screen.written.join(""))]).toEqual([]);
}

const squeezed = (text: string): string => text.replace(/ {2,}/g, " ").trim();

/** What of a log is printed, line by line, at a width. */
export function printedOf(
  events: readonly Durable[],
  columns: number,
  more: Partial<RowContext> = {},
): string[] {
  const context: RowContext = {
    columns,
    profile: classicWidths,
    signs: fullSigns,
    links: true,
    marks: false,
    cwd: "/",
    home: "/",
    thinking: "hidden",
    resultRows: 12,
    ...more,
  };
  let transcript = noTranscript;
  let printing = nothingPrinted;
  const lines: PrintLine[] = [];
  for (const event of events) {
    transcript = foldTranscript(transcript, event);
    const taken = takeFinished(transcript, printing, context);
    ({ transcript, printing } = taken);
    lines.push(...taken.lines);
  }
  return lines.map(({ spans, wrap }) =>
    textOfLine(wrap === "cut" ? clip(spans, columns - 2, context) : spans),
  );
}

export type Printed = {
  readonly project: string;
  readonly folder: string;
  /** What was told and is in no log, such as notices. */
  readonly live?: readonly RegExp[] | undefined;
  /** `start`: it was ended in the middle, and what came later is only in the log. */
  readonly extent?: "all" | "start" | undefined;
  /** What others see this screen as: it has said all that stands under this name, and does not tell it. */
  readonly name?: string | undefined;
};

/** Checked when the screen is gone, and its foot with it. */
export function expectPrinted(
  screen: Shown,
  events: readonly Durable[],
  { project, folder, live = [], extent = "all", name }: Printed,
): void {
  const isOurs = (line: string): boolean =>
    /^Keel \d|^Ended\. The session is kept|^Left\. It goes on at/.test(line) ||
    live.some((one) => one.test(line));
  const all = screen.lines().map(({ text }) => squeezed(text));
  const earlier = all.findIndex((line) => /^· \d+ earlier messages?: Ctrl-O/.test(line));
  const seen = withoutEdges(without(all.slice(earlier + 1), isOurs));
  const expected = withoutEdges(
    printedOf(events, screen.terminal.cols, {
      cwd: project,
      home: folder,
      own: { inputs: inputsOf(events, name), name },
    }).map(squeezed),
  );
  // Of an old conversation only the last turns are shown.
  const from = earlier < 0 ? 0 : Math.max(0, expected.length - seen.length);
  const shown = expected.slice(from);
  const wanted = (lines: readonly string[]): readonly string[] =>
    extent === "all" ? shown : shown.slice(0, lines.length);
  const left = withoutWithdrawn(seen, wanted);
  expect(left).toEqual(wanted(left));
}

const inputsOf = (events: readonly Durable[], name: string | undefined): string[] =>
  events.flatMap((event) =>
    event.type === "input.accepted" && event.input.from.kind === "person" && event.input.from.name === name
      ? [event.input.id]
      : [],
  );

const cutOff = "(cut off here: this reply does not count)";

/**
 * A reply that was cut off stands there as far as it came, and says so; the log has nothing of it. Without such pieces,
 * where what is left is then as it should be. No row but words may go with them.
 */
function withoutWithdrawn(
  seen: readonly string[],
  wanted: (lines: readonly string[]) => readonly string[],
): readonly string[] {
  const end = seen.indexOf(cutOff);
  if (end < 0) return seen;
  for (let start = end; start >= 0 && !/^[▍›◐◓◑◒✗✓·]/.test(seen[start] ?? ""); start--) {
    const blank = seen[start - 1] === "" && (seen[end + 1] ?? "") === "" ? 1 : 0;
    const left = withoutWithdrawn([...seen.slice(0, start - blank), ...seen.slice(end + 1)], wanted);
    if (sameLines(left, wanted(left))) return left;
  }
  return seen;
}

const sameLines = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((line, at) => line === right[at]);

/** What goes takes the blank line with it that set it apart. */
function without(lines: readonly string[], isGone: (line: string) => boolean): string[] {
  const kept: string[] = [];
  let isBehindGone = false;
  for (const line of lines) {
    if (isGone(line)) isBehindGone = true;
    else {
      if (!(isBehindGone && line === "" && (kept.at(-1) ?? "") === "")) kept.push(line);
      isBehindGone = false;
    }
  }
  return kept;
}

/** Blank lines at the edges belong to what we say ourselves. */
function withoutEdges(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line !== "");
  const last = lines.findLastIndex((line) => line !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}
