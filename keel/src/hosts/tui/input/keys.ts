/**
 * What comes from a terminal, as keys: bytes may be cut anywhere, between two of an escape sequence or of a letter. A
 * reducer: what is not whole yet waits in its state. A lone escape is one after a moment (`flushKeys`). Where a terminal
 * does not mark what is pasted, text with line breaks that comes in one burst counts as pasted: it never submits.
 */
import { readSequence } from "./sequences.ts";
import type { Key, TerminalInput } from "./terminal-input.ts";

export type KeyState = {
  /** The start of something that is not whole yet, and when it came. */
  readonly pending: Uint8Array;
  readonly pendingAt: number;
  /** What has come of a paste whose end has not. */
  readonly paste: readonly Uint8Array[] | null;
  /** When a burst last came that counted as pasted. */
  readonly burstAt: number;
};

export const noKeys: KeyState = {
  pending: new Uint8Array(),
  pendingAt: 0,
  paste: null,
  burstAt: Number.NEGATIVE_INFINITY,
};

const pasteStart = Buffer.from("\u001b[200~");
const pasteEnd = Buffer.from("\u001b[201~");
/** A lone escape is the key when nothing follows it for this long. */
const escapeMs = 40;
/** The rest of what no key begins with comes behind it, however slow the line is. */
const cutMs = 600;
/** A burst goes on as long as the pauses in it are shorter. */
const burstMs = 40;
/** Nothing that a terminal says is longer; what is has no end that would come. */
const maxSequence = 65_536;
const maxPaste = 64 * 1024 * 1024;

export function decodeKeys(
  before: KeyState,
  bytes: Uint8Array,
  at: number,
): { readonly state: KeyState; readonly inputs: readonly TerminalInput[] } {
  const inputs: TerminalInput[] = [];
  let { paste, burstAt } = before;
  const [only = 0] = bytes;
  // A letter by itself, as nearly everything that is typed.
  if (bytes.length === 1 && only >= 0x20 && only < 0x7f && paste === null && before.pending.length === 0)
    return { state: before, inputs: [keyOf(String.fromCharCode(only))] };
  const all = before.pending.length === 0 ? bytes : Buffer.concat([before.pending, bytes]);
  let rest: Uint8Array = all;
  while (rest.length > 0) {
    if (paste) {
      const taken = takePaste(paste, rest);
      paste = taken.paste;
      if (taken.text !== undefined) inputs.push({ kind: "paste", text: taken.text });
      rest = taken.rest;
      if (paste) break;
      continue;
    }
    if (rest[0] !== 0x1b) {
      const run = takeRun(rest);
      if (run.text === "" && run.used === 0) break;
      if (isBurst(run.text, at - burstAt)) {
        burstAt = at;
        inputs.push({ kind: "paste", text: unixLines(run.text) });
      } else inputs.push(...typed(run.text));
      rest = rest.subarray(run.used);
      continue;
    }
    if (startsWith(rest, pasteStart)) {
      paste = [];
      rest = rest.subarray(pasteStart.length);
      continue;
    }
    const found = readSequence(rest);
    if (found === "more") {
      if (rest.length > maxSequence) rest = rest.subarray(rest.length);
      break;
    }
    if (found.input) inputs.push(found.input);
    rest = rest.subarray(found.used);
  }
  // What is still the same has no more time because it grows.
  const pendingAt = before.pending.length > 0 && rest.length === all.length ? before.pendingAt : at;
  return { state: { pending: paste ? new Uint8Array() : copy(rest), pendingAt, paste, burstAt }, inputs };
}

/** In how many milliseconds what has come is what it is, if nothing follows; undefined where nothing waits. */
export function settlesIn({ pending, pendingAt }: KeyState, now: number): number | undefined {
  if (pending.length === 0) return undefined;
  const [first = 0, second = 0] = pending;
  const isMaybeKey = first === 0x1b && pending.length <= 2 && second < 0x80;
  return isMaybeKey ? escapeMs : Math.max(0, pendingAt + cutMs - now);
}

/** Nothing followed: what waits is what it is. */
export function flushKeys(before: KeyState): { state: KeyState; inputs: readonly TerminalInput[] } {
  const { pending } = before;
  const state = { ...before, pending: new Uint8Array() };
  if (pending.length === 0) return { state, inputs: [] };
  if (pending[0] !== 0x1b) return { state, inputs: [...typed(new TextDecoder().decode(pending))] };
  if (pending.length === 1) return { state, inputs: [key("escape")] };
  // Alt and a key that begins sequences: `alt+[`.
  const second = String.fromCharCode(pending[1] ?? 0);
  return { state, inputs: pending.length === 2 ? [key(`alt+${second}`)] : [] };
}

const key = (name: string, text = ""): Key => ({ kind: "key", name, text });

const copy = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && start.every((byte, index) => bytes[index] === byte);
}

function takePaste(
  before: readonly Uint8Array[],
  bytes: Uint8Array,
): { paste: readonly Uint8Array[] | null; text?: string; rest: Uint8Array } {
  // The mark of the end may be cut in two: the last bytes of before are looked at again.
  const last = before.at(-1);
  const joined = last && last.length < 64 ? Buffer.concat([last, bytes]) : bytes;
  const parts = last && last.length < 64 ? before.slice(0, -1) : before;
  const end = Buffer.from(joined.buffer, joined.byteOffset, joined.length).indexOf(pasteEnd);
  if (end < 0) {
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    if (size > maxPaste) return { paste: parts, rest: new Uint8Array() };
    const tail = Math.max(0, joined.length - pasteEnd.length);
    const kept = [...parts, copy(joined.subarray(0, tail)), copy(joined.subarray(tail))];
    return { paste: kept.filter(({ length }) => length > 0), rest: new Uint8Array() };
  }
  const whole = Buffer.concat([...parts, joined.subarray(0, end)]);
  return {
    paste: null,
    text: unixLines(whole.toString("utf8")),
    rest: joined.subarray(end + pasteEnd.length),
  };
}

const unixLines = (text: string): string => text.replace(/\r\n?/g, "\n");

/** Up to the next escape, or to a letter of which not all bytes have come. */
function takeRun(bytes: Uint8Array): { text: string; used: number } {
  let end = bytes.indexOf(0x1b);
  if (end < 0) end = bytes.length;
  const whole = end === bytes.length ? wholeLetters(bytes) : end;
  return { text: new TextDecoder().decode(bytes.subarray(0, whole)), used: whole };
}

/** How many bytes are whole letters of UTF-8; what could never become one counts as whole. */
function wholeLetters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Typed by no hand: several lines at once, or more of what was no moment ago. */
function isBurst(text: string, sinceMs: number): boolean {
  if (text.length < 2) return false;
  if (sinceMs < burstMs) return true;
  const inner = text.replace(/[\r\n]+$/, "");
  return /[\r\n]/.test(inner) && /[^\r\n]/.test(inner);
}

function* typed(text: string): Generator<Key, void> {
  for (const sign of text) yield keyOf(sign);
}

function keyOf(sign: string): Key {
  const code = sign.codePointAt(0) ?? 0;
  if (code === 0x0d) return key("enter");
  if (code === 0x09) return key("tab");
  if (code === 0x7f) return key("backspace");
  if (code === 0) return key("ctrl+space");
  if (code < 0x1b) return key(`ctrl+${String.fromCharCode(code + 0x60)}`);
  if (code < 0x20) return key(`ctrl+${String.fromCharCode(code + 0x40)}`);
  return key(sign, sign);
}
