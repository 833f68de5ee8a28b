/**
 * JSON as wires must read it: one object, no key twice, no bottomless nesting. `JSON.parse` takes the last of two equal
 * keys in silence, so two readers of one line could see two messages.
 */
import { type Fault, fault } from "../kernel/fault.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import { failed, ok, type Result } from "../kernel/result.ts";
import { shorten } from "../kernel/text.ts";

/** Deeper than any message is; shallow enough that no recursive reader of the value runs out of stack. */
export const maxDepth = 2_000;

/** The fault's `kind` says which rule was broken: `json`, `depth`, `shape` or `duplicate_key`. */
export function parseJsonLine(text: string): Result<JsonObject, Fault> {
  const { depth, pairs } = measureJson(text);
  if (depth > maxDepth) return invalid("depth", `nested deeper than ${maxDepth}`);
  const parsed = parse(text);
  if (!parsed.ok) return invalid("json", parsed.error);
  if (!isJsonObject(parsed.value)) return invalid("shape", "not an object");
  if (countKeys(parsed.value) !== pairs) return invalid("duplicate_key", "a key stands twice in one object");
  return ok(parsed.value);
}

function invalid(kind: string, reason: string): Result<never, Fault> {
  return failed(fault("line_invalid", { kind, reason: shorten(reason, 200) }));
}

function parse(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text));
  } catch (thrown) {
    return failed(thrown instanceof Error ? thrown.message : "not JSON");
  }
}

/** What `JSON.parse` returns as an object holds JSON only. */
const isJsonObject = (value: unknown): value is JsonObject => isObject(value);

/** Nesting, and the colons outside strings: one for each key and its value. Right for valid JSON, harmless for other. */
export function measureJson(text: string): { depth: number; pairs: number } {
  let depth = 0;
  let deepest = 0;
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at + 1);
        break;
      case openBrace:
      case openBracket:
        depth++;
        if (depth > deepest) deepest = depth;
        break;
      case closeBrace:
      case closeBracket:
        depth--;
        break;
      case colon:
        pairs++;
        break;
    }
  }
  return { depth: deepest, pairs };
}

/** Where the string ends that starts at `from`: its closing quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

/** Keys of all objects inside, counted without recursion. */
function countKeys(value: JsonObject): number {
  let keys = 0;
  const open: unknown[] = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (Array.isArray(part)) {
      for (const item of part) if (typeof item === "object" && item !== null) open.push(item);
    } else if (isObject(part)) {
      for (const item of Object.values(part)) {
        keys++;
        if (typeof item === "object" && item !== null) open.push(item);
      }
    }
  }
  return keys;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
