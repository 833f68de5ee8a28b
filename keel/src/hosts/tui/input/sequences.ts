/** Escape sequences that terminals send: keys in the old and in the kitty manner, and answers to questions. Pure. */
import type { Key, TerminalInput } from "./terminal-input.ts";

export type FoundSequence = {
  /** Undefined for what means nothing to us. */
  readonly input: TerminalInput | undefined;
  readonly used: number;
};

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** The sequence at the start of the bytes, which begin with an escape; `more` where its end has not come. */
export function readSequence(bytes: Uint8Array): FoundSequence | "more" {
  const second = bytes[1];
  if (second === undefined) return "more";
  switch (second) {
    case 0x5b: // [
      return readControl(bytes);
    case 0x4f: // O
      return readShort(bytes);
    case 0x5d: // ]
    case 0x50: // P
    case 0x5f: // _
      return readString(bytes);
    case 0x1b:
      // Two escapes: the first was the key, or alt with what follows.
      return bytes.length > 2 && (bytes[2] === 0x5b || bytes[2] === 0x4f)
        ? withAlt(readSequence(bytes.subarray(1)))
        : { input: key("escape"), used: 1 };
    default:
      return readAlt(bytes);
  }
}

function withAlt(found: FoundSequence | "more"): FoundSequence | "more" {
  if (found === "more" || !found.input) return found === "more" ? found : { ...found, used: found.used + 1 };
  const { input, used } = found;
  return { input: input.kind === "key" ? key(`alt+${input.name}`) : input, used: used + 1 };
}

const key = (name: string, written = ""): Key => ({ kind: "key", name, text: written });

function readAlt(bytes: Uint8Array): FoundSequence | "more" {
  const first = bytes[1] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (bytes.length < 1 + length) return "more";
  const sign = new TextDecoder().decode(bytes.subarray(1, 1 + length));
  const code = sign.codePointAt(0) ?? 0;
  const name =
    code === 0x0d
      ? "enter"
      : code === 0x7f || code === 0x08
        ? "backspace"
        : code === 0x09
          ? "tab"
          : code < 0x1b
            ? `ctrl+${String.fromCharCode(code + 0x60)}`
            : sign;
  return { input: key(`alt+${name}`), used: 1 + length };
}

const shortNames: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  M: "enter",
  Z: "shift+tab",
};

function readShort(bytes: Uint8Array): FoundSequence | "more" {
  if (bytes.length < 3) return "more";
  const name = shortNames[String.fromCharCode(bytes[2] ?? 0)];
  return { input: name === undefined ? undefined : key(name), used: 3 };
}

const numbered: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

function readControl(bytes: Uint8Array): FoundSequence | "more" {
  let end = 2;
  while (end < bytes.length && !isFinal(bytes[end] ?? 0)) {
    // Not of a sequence at all: the start of it was something else.
    if ((bytes[end] ?? 0) < 0x20) return { input: undefined, used: end };
    end++;
  }
  if (end >= bytes.length) return "more";
  const body = text(bytes.subarray(2, end));
  const final = String.fromCharCode(bytes[end] ?? 0);
  return { input: controlInput(body, final), used: end + 1 };
}

const isFinal = (byte: number): boolean => byte >= 0x40 && byte <= 0x7e;

/** As xterm.js answers when it is asked what kind of terminal it is: its name it does not say. */
const xtermJs = ">0;276;0";

function controlInput(body: string, final: string): TerminalInput | undefined {
  if (body === "" && (final === "I" || final === "O")) return { kind: "focus", isHere: final === "I" };
  if (body.startsWith("?")) {
    if (final !== "c") return undefined;
    return { kind: "attributes", values: body.slice(1).split(";").map(Number) };
  }
  if (body === xtermJs && final === "c") return { kind: "version", name: "xterm.js" };
  if (/^[<>=]/.test(body)) return undefined;
  const fields = body.split(";").map((field) => field.split(":"));
  const number = (field: number, part = 0): number => Number(fields[field]?.[part] || "0");
  if (final === "R" && fields.length === 2) return { kind: "cursor", row: number(0), column: number(1) };
  // A key that is let go says nothing new.
  if (number(1, 1) === 3) return undefined;
  const held = heldBy(number(1));
  if (final === "u") return unicodeKey(fields, held);
  if (final === "~") {
    if (number(0) === 27 && fields.length === 3) return named(signKey(number(2)), held);
    const name = numbered[number(0)];
    return name === undefined ? undefined : named(name, held);
  }
  const name = shortNames[final];
  return name === undefined ? undefined : named(name, held);
}

type Held = { readonly shift: boolean; readonly alt: boolean; readonly ctrl: boolean; readonly cmd: boolean };

function heldBy(modifiers: number): Held {
  const bits = Math.max(0, modifiers - 1);
  return { shift: (bits & 1) > 0, alt: (bits & 2) > 0, ctrl: (bits & 4) > 0, cmd: (bits & 8) > 0 };
}

function unicodeKey(fields: readonly (readonly string[])[], held: Held): Key | undefined {
  const code = Number(fields[0]?.[0] ?? 0);
  // Keys of their own that write nothing: modifiers, media.
  if (code >= 57_344 && code <= 63_743)
    return keypad[code] === undefined ? undefined : named(keypad[code], held);
  const written = (fields[2] ?? []).map((one) => signOf(Number(one))).join("");
  const name = signKey(code);
  if (written !== "" && !held.ctrl && !held.alt) return { kind: "key", name: written, text: written };
  if (name.length === 1 && held.shift && !held.ctrl && !held.alt) {
    const shifted = Number(fields[0]?.[1] ?? 0);
    const upper = shifted > 0 ? signOf(shifted) : name.toUpperCase();
    return { kind: "key", name: upper, text: upper };
  }
  return named(name, held);
}

/** Keys of the pad of digits that mean what others mean. */
const keypad: Readonly<Record<number, string>> = {
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57425: "insert",
  57426: "delete",
};

function signKey(code: number): string {
  const special: Readonly<Record<number, string>> = {
    8: "backspace",
    9: "tab",
    10: "ctrl+j",
    13: "enter",
    27: "escape",
    32: "space",
    127: "backspace",
  };
  return special[code] ?? (code > 0 ? signOf(code) : "");
}

/** Whatever a terminal sends as the number of a sign. */
const signOf = (code: number): string =>
  Number.isInteger(code) && code > 0 && code <= 0x10ffff
    ? String.fromCodePoint(code).toWellFormed()
    : "\ufffd";

/** What was held stands before the name, always in the same order. */
function named(name: string, { shift, alt, ctrl, cmd }: Held): Key | undefined {
  if (name === "") return undefined;
  const isSign = [...name].length === 1;
  const plain = name === "space" && !ctrl && !alt && !cmd ? " " : name;
  if (isSign && !ctrl && !alt && !cmd) return key(name, name);
  if (plain === " ") return key(" ", " ");
  const parts = [
    ...(ctrl ? ["ctrl"] : []),
    ...(alt ? ["alt"] : []),
    ...(cmd ? ["cmd"] : []),
    ...(shift && !(isSign && !ctrl) ? ["shift"] : []),
    name,
  ];
  const joined = parts.join("+");
  return key(joined === "shift+shift+tab" ? "shift+tab" : joined);
}

/** A string with its end: a bell, or an escape and a backslash. */
function readString(bytes: Uint8Array): FoundSequence | "more" {
  for (let at = 2; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x07) return { input: stringInput(bytes.subarray(1, at)), used: at + 1 };
    if (byte !== 0x1b) continue;
    if (at + 1 >= bytes.length) return "more";
    if (bytes[at + 1] === 0x5c) return { input: stringInput(bytes.subarray(1, at)), used: at + 2 };
    // It was no string: `alt+]` with something after it.
    return { input: at === 2 ? key(`alt+${String.fromCharCode(bytes[1] ?? 0)}`) : undefined, used: at };
  }
  return "more";
}

function stringInput(bytes: Uint8Array): TerminalInput | undefined {
  const said = text(bytes);
  if (said.startsWith("]11;")) return { kind: "background", colour: said.slice(4) };
  if (said.startsWith("P>|")) return { kind: "version", name: said.slice(3) };
  if (said.startsWith("_G")) return { kind: "graphics", isOk: said.endsWith(";OK") };
  return undefined;
}
