/**
 * The input of a call that is not quite JSON, mended where there is only one thing that it can mean: a code fence around
 * it, one stray mark behind it, a comma too many, raw line ends inside texts, an object that was written as a text, and
 * closing brackets that are missing at the very end. Nothing that the model wrote is changed, and nothing is made up: a
 * text, a number or a name that breaks off stays broken, and the model is told.
 */
import { isObject, type JsonObject } from "../../kernel/json.ts";
import { parseInput } from "../read-answer.ts";

/** `cut` when the reply was cut off: then no end is added, since more was to come. */
export type ReplyEnding = "whole" | "cut";

/** Undefined when it stays broken. Text that already is an object in JSON comes back as that object. */
export function repairJson(text: string, ending: ReplyEnding): JsonObject | undefined {
  const plain = withoutFence(text.trim());
  const direct = parseObject(plain);
  if (direct) return direct;
  const scanned = scan(plain);
  if (scanned === undefined) return undefined;
  const { mended, open, restFrom, last } = scanned;
  if (restFrom !== undefined)
    return strayEnd.test(mended.slice(restFrom)) ? parseObject(mended.slice(0, restFrom)) : undefined;
  if (open === "") return parseObject(mended);
  return ending === "whole" && endsValue(last) ? parseObject(mended + open) : undefined;
}

/** An object in JSON, also one that was written as a text in JSON. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseInput(text);
  const inner = typeof value === "string" ? parseInput(value) : value;
  return isObject(inner) ? inner : undefined;
}

function withoutFence(text: string): string {
  const opening = /^```[a-zA-Z]{0,10}\s/.exec(text)?.[0];
  if (opening === undefined || !text.endsWith("```") || text.length < opening.length + 3) return text;
  return text.slice(opening.length, -3).trim();
}

/** One mark that a model or its template leaves behind the object: a bracket or a comma too many, or a closing tag. */
const strayEnd = /^\s*(?:[}\],;]|<\/?[\w|-]{1,40}>|<\|[\w-]{1,40}\|>|```)\s*$/;

type Scanned = {
  /** The text without commas that stand before a closing bracket, and with line ends inside texts written as JSON wants them. */
  readonly mended: string;
  /** The brackets that would close what is open. */
  readonly open: string;
  /** Where the object ended, when something follows. */
  readonly restFrom: number | undefined;
  /** The last character that is no blank. */
  readonly last: string;
};

/** Reads brackets and texts. Undefined when a text does not end, brackets do not fit, or it does not start an object. */
function scan(text: string): Scanned | undefined {
  if (!text.startsWith("{")) return undefined;
  const closers: string[] = [];
  const out: string[] = [];
  let copied = 0;
  let comma = -1;
  let last = "";
  for (let at = 0; at < text.length; at++) {
    const mark = text.charAt(at);
    if (isBlank(mark)) continue;
    const before = last;
    last = mark;
    if (mark === ",") {
      comma = "{[,:".includes(before) ? -1 : at;
      continue;
    }
    if (mark === '"') {
      const end = endOfText(text, at);
      if (end === -1) return undefined;
      out.push(text.slice(copied, at), escaped(text.slice(at, end)));
      copied = end;
      at = end - 1;
    } else if (mark === "{" || mark === "[") {
      closers.push(mark === "{" ? "}" : "]");
    } else if (mark === "}" || mark === "]") {
      if (closers.pop() !== mark) return undefined;
      if (comma !== -1) {
        out.push(text.slice(copied, comma));
        copied = comma + 1;
      }
      if (closers.length === 0) return closed(text, out.join("") + text.slice(copied, at + 1), at + 1);
    }
    comma = -1;
  }
  const mended = out.join("") + text.slice(copied);
  return { mended, open: closers.reverse().join(""), restFrom: undefined, last };
}

function closed(text: string, object: string, end: number): Scanned {
  const rest = text.slice(end);
  return {
    mended: object + rest,
    open: "",
    restFrom: rest.trim() === "" ? undefined : object.length,
    last: "}",
  };
}

/** A text, or something that was closed. After a number, a word, a comma or a colon more may have been meant. */
const endsValue = (last: string): boolean => last === '"' || last === "}" || last === "]";

/** Where the text that starts at `from` is over; -1 when it does not end. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const mark = text.charAt(at);
    if (mark === "\\") at++;
    else if (mark === '"') return at + 1;
  }
  return -1;
}

/** Inside a text a raw line end or tab can only mean itself. */
const escaped = (text: string): string =>
  text.replace(/[\n\r\t]/g, (mark) => (mark === "\n" ? "\\n" : mark === "\r" ? "\\r" : "\\t"));

const isBlank = (mark: string): boolean => mark === " " || mark === "\n" || mark === "\r" || mark === "\t";
