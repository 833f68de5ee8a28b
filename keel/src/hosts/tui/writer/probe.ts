/**
 * What this terminal is, by its own word: how wide it draws what terminals disagree about, what its background is, what
 * it is called. Asked once at the start, without waiting; until the answers come it is taken for one of today's.
 */
import type { TerminalInput } from "../input/terminal-input.ts";
import { classicWidths, modernWidths, type WidthProfile } from "../text/width.ts";
import type { Reflow } from "./frame.ts";

/** Each is written at the left edge, the cursor asked for, and taken away again. */
const probes = ["😀", "👩‍🚀", "❤️", "🇩🇪"] as const;

const askCursor = "\u001b[6n";
const askAttributes = "\u001b[c";
const askVersion = "\u001b[>q";
const askKind = "\u001b[>c";
/** A picture of one pixel that is not shown: a terminal that draws pictures says OK. */
const askGraphics = "\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\";
const askBackground = "\u001b]11;?\u001b\\";

/** The last question is one that every terminal answers: what has not come by then will not come. */
export const questions: string = [
  "\u001b[?2026h",
  ...probes.map((text) => `\r${text}${askCursor}\r\u001b[K`),
  "\u001b[?2026l",
  askBackground,
  askVersion,
  askKind,
  askGraphics,
  askAttributes,
].join("");

export type Probe = {
  /** The columns in which the cursor stood, as far as they have come. */
  readonly columns: readonly number[];
  readonly isOver: boolean;
};

export const noAnswers: Probe = { columns: [], isOver: false };

export function probed(before: Probe, input: TerminalInput): Probe {
  if (before.isOver) return before;
  if (input.kind === "cursor") return { ...before, columns: [...before.columns, input.column - 1] };
  return input.kind === "attributes" ? { ...before, isOver: true } : before;
}

/** Undefined until all widths are known. */
export function widthsOf({ columns }: Probe): WidthProfile | undefined {
  const [emoji, joined, picture, flag] = columns;
  if (emoji === undefined || joined === undefined || picture === undefined || flag === undefined)
    return undefined;
  if (emoji <= 1) return classicWidths;
  return {
    emoji: 2,
    joined: joined <= 2,
    picture: picture >= 2 ? 2 : 1,
    flag: flag >= 4 ? 4 : 2,
  };
}

/** What becomes of rows when the width changes, by the name of the terminal. */
export function reflowOf(name: string): Reflow {
  if (/xterm\.js/i.test(name)) return "not-the-cursor";
  return /^XTerm\(|^screen|^GNU Screen|^linux$/i.test(name) ? "none" : "all";
}

/** What the environment says before the terminal has. */
export function guessedReflow(env: Readonly<Record<string, string | undefined>>): Reflow {
  if (env["TMUX"]) return "all";
  if (env["TERM_PROGRAM"] === "vscode") return "not-the-cursor";
  if (env["XTERM_VERSION"]) return "none";
  return /^(?:screen|linux|vt\d+|st)\b/.test(env["TERM"] ?? "") ? "none" : "all";
}

export const guessedWidths = (hasFullSigns: boolean): WidthProfile =>
  hasFullSigns ? modernWidths : classicWidths;
