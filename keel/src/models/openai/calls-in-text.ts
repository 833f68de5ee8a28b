/**
 * Calls that a model writes into its text, because its template or its server does not know how to make calls of them. Where
 * the text is nothing but calls, each in one of the known marks, it can mean nothing else, and they are calls. Where a text
 * ends in something that looks like one it might also be quoted: that is not run, and the model is told.
 */
import { isObject, type JsonObject, parseJson } from "../../kernel/json.ts";
import { headBytes } from "../../kernel/text.ts";
import { maxBrokenBytes } from "../read-answer.ts";
import { parseObject } from "./repair-json.ts";

/** With `input` it is run; without it the model hears that it was not. */
export type TextCall = { readonly name: string; readonly input?: JsonObject; readonly text: string };

/** Calls are short; a longer text is none of them. */
const maxCharacters = 200_000;

export function callsInText(text: string, isTool: (name: string) => boolean): TextCall[] {
  const plain = text.trim();
  if (plain === "" || plain.length > maxCharacters) return [];
  const whole = wholeCalls(plain);
  if (whole?.every(({ name, input }) => isTool(name) && input !== undefined)) return whole;
  const last = lastCall(plain);
  return last && isTool(last.name) ? [{ name: last.name, text: headBytes(last.text, maxBrokenBytes) }] : [];
}

/** `<tool_call>{…}</tool_call>`, `<function=Name>{…}</function>`, `[TOOL_CALLS] [{…}]`, `<|python_tag|>{…}`. */
function wholeCalls(text: string): TextCall[] | undefined {
  const listed = /^\[TOOL_CALLS\]\s*(\[[\s\S]*\])$/.exec(text)?.[1];
  if (listed !== undefined) {
    const list = parseJson(listed);
    return Array.isArray(list) && list.length > 0 ? list.map((one) => callIn(one, text)) : undefined;
  }
  const marked = /^<\|python_tag\|>\s*(\{[\s\S]*\})(?:<\|eo[mt]_id\|>)?$/.exec(text)?.[1];
  if (marked !== undefined) return [callIn(parseObject(marked), text)];
  const found: TextCall[] = [];
  let rest = text;
  while (rest !== "") {
    const [all, tagged, name, args] =
      /^(?:<tool_call>([\s\S]*?)(?:<\/tool_call>|$)|<function=([\w.-]{1,100})>([\s\S]*?)(?:<\/function>|$))\s*/.exec(
        rest,
      ) ?? [];
    if (all === undefined || all === "") return undefined;
    found.push(
      tagged === undefined
        ? { name: name ?? "", ...inputIn(parseObject((args ?? "").trim())), text: all }
        : callIn(parseObject(tagged.trim()), all),
    );
    rest = rest.slice(all.length);
  }
  return found;
}

/** An object with the name of a tool and its input, at the very end, between marks, in a fence, or as all there is. */
function lastCall(text: string): TextCall | undefined {
  const [, tagged] =
    /(?:<tool_call>|<\|python_tag\|>|\[TOOL_CALLS\]\s*\[?)\s*(\{[^<]*)(?:<[^>]*>)?\s*$/.exec(text) ?? [];
  const [, fenced] = /```[\w-]{0,20}\s*(\{[^`]*\})\s*```$/.exec(text) ?? [];
  const [, named] = /<function=([\w.-]{1,100})>[^<]*(?:<\/function>)?$/.exec(text) ?? [];
  if (named !== undefined) return { name: named, text };
  const json = tagged ?? fenced ?? (text.startsWith("{") ? text : undefined);
  if (json === undefined) return undefined;
  const [, name] =
    /^\{\s*"(?:name|function|tool)"\s*:\s*"([\w.-]{1,100})"\s*,\s*"(?:arguments|parameters|input|args)"\s*:/.exec(
      json,
    ) ?? [];
  return name === undefined ? undefined : { name, text: json };
}

function callIn(value: unknown, text: string): TextCall {
  const fields = isObject(value) ? value : {};
  const { name, arguments: args, parameters } = fields;
  const input = args ?? parameters;
  return {
    name: typeof name === "string" ? name : "",
    ...inputIn(typeof input === "string" ? parseObject(input) : input),
    text,
  };
}

const inputIn = (input: unknown): { input?: JsonObject } =>
  isObject(input) ? { input: input as JsonObject } : {};
