/**
 * The vi way of editing, as a reducer over keys. In insert mode everything but escape is as without it; in normal mode
 * keys are counts, operators, motions and text objects. What it does not know it passes over.
 */
import { change, type Editor, edit } from "./editor.ts";
import * as go from "./motions.ts";
import { type Find, type Reach, reachOf } from "./vi-motions.ts";

export type Vi = {
  readonly mode: "insert" | "normal";
  /** What was typed of a command that is not whole yet. */
  readonly typed: string;
  /** What was taken last, and whether as whole lines. */
  readonly register: { readonly text: string; readonly lines: boolean };
  /** The last search in a line, to be repeated. */
  readonly find: Find | null;
  /** The keys of the last change, and what was typed in it, for the dot. */
  readonly lastChange: string;
};

export const insertMode: Vi = {
  mode: "insert",
  typed: "",
  register: { text: "", lines: false },
  find: null,
  lastChange: "",
};

type ViStep = { readonly vi: Vi; readonly editor: Editor };

/** In normal mode; a key of several signs (`up`, `ctrl+r`) by its name. */
export function viKey(vi: Vi, editor: Editor, key: string): ViStep {
  const typed = vi.typed + aliasOf(key);
  const command = readCommand(typed);
  if (command === "more") return { vi: { ...vi, typed }, editor };
  const clear = { ...vi, typed: "" };
  if (command === undefined) return { vi: clear, editor };
  const done = run(clear, editor, command);
  return changes.has(command.verb) ? { ...done, vi: { ...done.vi, lastChange: typed } } : done;
}

/** Back from insert mode: the cursor stands on a sign again. */
export const toNormal = (vi: Vi, editor: Editor): ViStep => ({
  vi: { ...vi, mode: "normal", typed: "" },
  editor: { ...editor, cursor: onSign(editor.text, back(editor)), last: "other" },
});

const back = ({ text, cursor }: Editor): number =>
  cursor > go.lineStart(text, cursor) ? go.previous(text, cursor) : cursor;

function aliasOf(key: string): string {
  const names: Readonly<Record<string, string>> = {
    left: "h",
    right: "l",
    down: "j",
    up: "k",
    backspace: "h",
    " ": "l",
    home: "0",
    end: "$",
    delete: "x",
    "ctrl+r": "\u0012",
  };
  return names[key] ?? ([...key].length === 1 ? key : "\u0000");
}

type Verb =
  | "move"
  | "d"
  | "c"
  | "y"
  | "x"
  | "X"
  | "D"
  | "C"
  | "S"
  | "s"
  | "r"
  | "J"
  | "~"
  | "p"
  | "P"
  | "u"
  | "redo"
  | "i"
  | "a"
  | "I"
  | "A"
  | "o"
  | "O"
  | "."
  | "Y";

type ViCommand = { readonly verb: Verb; readonly count: number; readonly motion: string };

const changes: ReadonlySet<Verb> = new Set(["d", "c", "x", "X", "D", "C", "S", "s", "r", "J", "~", "p", "P"]);

const motion = "(?:[fFtT]([\\s\\S])?|g(g)?|[hjklwbeWBE0^$G;,])";
const object = "[ia]([wW\"'`()\\[\\]{}<>b B])?";
const shape = new RegExp(
  `^([1-9]\\d*)?(?:(${motion})|([dcy])([1-9]\\d*)?(?:(dd|cc|yy|[dcy])|(${motion})|(${object}))?|(r)([\\s\\S])?|([xXDCSsJ~pPuiaIAoO.Y\\u0012]))$`,
  "u",
);

function readCommand(typed: string): ViCommand | "more" | undefined {
  if (/^[1-9]\d*$/.test(typed)) return "more";
  const found = shape.exec(typed);
  if (!found) return undefined;
  const outer = Number(found[1] ?? 1);
  if (found[2] !== undefined) {
    if (/^[fFtTg]$/.test(found[2])) return "more";
    return { verb: "move", count: outer, motion: found[2] };
  }
  const operator = found[5];
  if (operator === "d" || operator === "c" || operator === "y") {
    const count = outer * Number(found[6] ?? 1);
    const rest = found[7] ?? found[8] ?? found[11] ?? "";
    if (rest === "" || /^[fFtTgia]$/.test(rest)) return "more";
    if (rest === operator) return { verb: operator, count, motion: "line" };
    return /^[dcy]$/.test(rest) ? undefined : { verb: operator, count, motion: rest };
  }
  if (found[13] === "r")
    return found[14] === undefined ? "more" : { verb: "r", count: outer, motion: found[14] };
  const verb = found[15] === "\u0012" ? "redo" : (found[15] as Verb | undefined);
  return verb && { verb, count: outer, motion: "" };
}

function run(vi: Vi, editor: Editor, command: ViCommand): ViStep {
  const { text, cursor } = editor;
  const { verb, count } = command;
  const insert = (next: Editor): ViStep => ({ vi: { ...vi, mode: "insert" }, editor: next });
  const stay = (next: Editor): ViStep => ({
    vi,
    editor: { ...next, cursor: onSign(next.text, next.cursor) },
  });
  switch (verb) {
    case "move": {
      const found = reachOf(editor, command, vi.find);
      if (!found) return { vi, editor };
      const moved: Editor =
        found.goal === undefined
          ? { ...editor, last: "other" }
          : { ...editor, last: "up-down", goal: found.goal };
      return {
        vi: { ...vi, find: found.find ?? vi.find },
        editor: { ...moved, cursor: onSign(text, found.to), yanked: null },
      };
    }
    case "d":
    case "c":
    case "y":
      return operate(vi, editor, command);
    case "x":
      return operate(vi, editor, { verb: "d", count, motion: "l" });
    case "X":
      return operate(vi, editor, { verb: "d", count, motion: "h" });
    case "D":
      return operate(vi, editor, { verb: "d", count: 1, motion: "$" });
    case "C":
      return operate(vi, editor, { verb: "c", count: 1, motion: "$" });
    case "S":
      return operate(vi, editor, { verb: "c", count, motion: "line" });
    case "s":
      return operate(vi, editor, { verb: "c", count, motion: "l" });
    case "Y":
      return operate(vi, editor, { verb: "y", count, motion: "line" });
    case "r": {
      const end = forward(text, cursor, count);
      if (end > go.lineEnd(text, cursor) || end === cursor) return { vi, editor };
      const put = command.motion.repeat(count);
      const after = text.slice(0, cursor) + put + text.slice(end);
      return stay(
        change(editor, { text: after, cursor: cursor + put.length - command.motion.length }, "other"),
      );
    }
    case "J": {
      const end = go.lineEnd(text, cursor);
      if (end === text.length) return { vi, editor };
      const blanks = /^[ \t]*/.exec(text.slice(end + 1))?.[0].length ?? 0;
      const after = `${text.slice(0, end)} ${text.slice(end + 1 + blanks)}`;
      return stay(change(editor, { text: after, cursor: end }, "other"));
    }
    case "~": {
      const end = Math.min(forward(text, cursor, count), go.lineEnd(text, cursor));
      const flipped = [...text.slice(cursor, end)]
        .map((sign) => (sign === sign.toUpperCase() ? sign.toLowerCase() : sign.toUpperCase()))
        .join("");
      const after = text.slice(0, cursor) + flipped + text.slice(end);
      return stay(change(editor, { text: after, cursor: cursor + flipped.length }, "other"));
    }
    case "p":
    case "P":
      return stay(put(vi, editor, verb, count));
    case "u":
      return stay(edit(editor, { type: "undo" }));
    case "redo":
      return stay(edit(editor, { type: "redo" }));
    case "i":
      return insert(editor);
    case "a":
      return insert({
        ...editor,
        cursor: cursor < go.lineEnd(text, cursor) ? go.next(text, cursor) : cursor,
      });
    case "I":
      return insert({ ...editor, cursor: go.firstSign(text, cursor) });
    case "A":
      return insert({ ...editor, cursor: go.lineEnd(text, cursor) });
    case "o": {
      const end = go.lineEnd(text, cursor);
      const after = `${text.slice(0, end)}\n${text.slice(end)}`;
      return insert(change(editor, { text: after, cursor: end + 1 }, "other"));
    }
    case "O": {
      const start = go.lineStart(text, cursor);
      const after = `${text.slice(0, start)}\n${text.slice(start)}`;
      return insert(change(editor, { text: after, cursor: start }, "other"));
    }
    case ".": {
      if (vi.lastChange === "") return { vi, editor };
      let step: ViStep = { vi, editor };
      for (const sign of vi.lastChange) step = viKey(step.vi, step.editor, sign);
      return step;
    }
  }
}

function operate(vi: Vi, editor: Editor, { verb, count, motion: by }: ViCommand): ViStep {
  const found =
    by === "line"
      ? wholeLines(editor, count)
      : reachOf(editor, { count, motion: cwAsCe(verb, by, editor) }, vi.find);
  if (!found) return { vi, editor };
  const { text } = editor;
  const [from, to] = rangeOf(editor, found);
  if (from === to && verb !== "c") return { vi, editor };
  const isLines = found.lines === true;
  const register = { text: text.slice(from, to).replace(isLines ? /^\n|\n$/ : /(?!)/, ""), lines: isLines };
  const next: Vi = { ...vi, register, find: found.find ?? vi.find };
  if (verb === "y") return { vi: next, editor: { ...editor, cursor: onSign(text, from), last: "other" } };
  if (verb === "c") {
    // Of whole lines one stays, empty.
    const [first, last] = isLines ? [from, text[to - 1] === "\n" && to > from ? to - 1 : to] : [from, to];
    const after = change(editor, { text: text.slice(0, first) + text.slice(last), cursor: first }, "other");
    return { vi: { ...next, mode: "insert" }, editor: after };
  }
  // The last line goes with the break before it.
  const start = isLines && to === text.length && from > 0 ? from - 1 : from;
  const kept = text.slice(0, start) + text.slice(to);
  const cursor = isLines ? go.firstSign(kept, Math.min(start, kept.length)) : start;
  return { vi: next, editor: change(editor, { text: kept, cursor: onSign(kept, cursor) }, "other") };
}

/** `cw` on a word changes the word, and not the blanks behind it. */
const cwAsCe = (verb: Verb, by: string, { text, cursor }: Editor): string =>
  verb === "c" && (by === "w" || by === "W") && go.kindAt(text, cursor, false) !== "blank"
    ? by === "w"
      ? "e"
      : "E"
    : by;

function wholeLines({ text, cursor }: Editor, count: number): Reach {
  let end = go.lineEnd(text, cursor);
  for (let line = 1; line < count && end < text.length; line++) end = go.lineEnd(text, end + 1);
  return { from: cursor, to: end, lines: true };
}

function rangeOf({ text, cursor }: Editor, { from = cursor, to, inclusive, lines }: Reach): [number, number] {
  const low = Math.min(from, to);
  const high = Math.max(from, to);
  if (lines) return [go.lineStart(text, low), Math.min(text.length, go.lineEnd(text, high) + 1)];
  return [low, inclusive ? go.next(text, high) : high];
}

function put({ register }: Vi, editor: Editor, how: "p" | "P", count: number): Editor {
  const { text, cursor } = editor;
  if (register.text === "" && !register.lines) return editor;
  if (!register.lines) {
    const at = how === "p" && cursor < go.lineEnd(text, cursor) ? go.next(text, cursor) : cursor;
    const added = register.text.repeat(count);
    const after = text.slice(0, at) + added + text.slice(at);
    return change(editor, { text: after, cursor: Math.max(at, at + added.length - 1) }, "other");
  }
  const lines = Array.from({ length: count }, () => register.text).join("\n");
  if (how === "p") {
    const end = go.lineEnd(text, cursor);
    return change(
      editor,
      { text: `${text.slice(0, end)}\n${lines}${text.slice(end)}`, cursor: end + 1 },
      "other",
    );
  }
  const start = go.lineStart(text, cursor);
  return change(
    editor,
    { text: `${text.slice(0, start)}${lines}\n${text.slice(start)}`, cursor: start },
    "other",
  );
}

const forward = (text: string, at: number, count: number): number => {
  let place = at;
  for (let time = 0; time < Math.min(count, 10_000); time++) place = go.next(text, place);
  return place;
};

/** In normal mode the cursor is on a sign, never behind the last one of its line. */
function onSign(text: string, at: number): number {
  const start = go.lineStart(text, at);
  const end = go.lineEnd(text, at);
  return at >= end && end > start ? go.previous(text, end) : Math.min(at, end);
}
