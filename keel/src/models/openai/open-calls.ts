/**
 * The calls of a reply while they stream. Servers of this wire agree on little: a call comes whole or in pieces, its
 * pieces stand between those of others, its id or its number may be missing, its name may come late or again and again,
 * all calls may have the number 0, and arguments may be an object instead of a text.
 */
import { asObject, asText, isObject, type Json, parseJson } from "../../kernel/json.ts";
import { headBytes } from "../../kernel/text.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { ToolUse } from "../../protocol/message.ts";
import { malformed, maxBrokenBytes } from "../read-answer.ts";
import { parseObject, type ReplyEnding, repairJson } from "./repair-json.ts";

export type OpenCalls = {
  readonly count: () => number;
  /** One entry of `tool_calls`. A call starts for the reader when its name and something of its input are there. */
  add(wire: Json): ModelEvent[];
  close(
    ending: ReplyEnding,
  ): { readonly at: number; readonly events: ModelEvent[]; readonly block: ToolUse }[];
};

export type OpenCallsOptions = {
  /** A place in the reply for a call that begins. */
  readonly place: () => number;
  /** The tool that a name on the wire stands for. */
  readonly nameOf: (wire: string) => string;
  /** The id of a call to which the server gave none. */
  readonly idOf: (position: number) => string;
};

export function openCalls({ place, nameOf, idOf }: OpenCallsOptions): OpenCalls {
  const calls: OpenCall[] = [];
  const byNumber = new Map<number, OpenCall>();

  const begin = ({ number }: CallPiece): OpenCall => {
    const call = { at: place(), id: "", name: "", json: "", started: false };
    calls.push(call);
    if (number !== undefined) byNumber.set(number, call);
    return call;
  };

  const find = (piece: CallPiece): OpenCall | undefined => {
    const { number, id, name } = piece;
    if (number !== undefined) {
      const found = byNumber.get(number);
      return found && isAnother(piece, found) ? undefined : found;
    }
    const named = id === "" ? undefined : calls.find((call) => call.id === id);
    return named ?? (name === "" ? calls.at(-1) : undefined);
  };

  /** Nothing while its name is unknown. */
  const start = (call: OpenCall): ModelEvent[] => {
    if (call.started || call.name === "") return [];
    call.started = true;
    call.id ||= idOf(calls.indexOf(call));
    const { at: index, id, json } = call;
    const shell: ToolUse = { type: "tool_use", id, name: nameOf(call.name), input: {} };
    const begun: ModelEvent = { type: "block.start", index, block: shell };
    return json === "" ? [begun] : [begun, { type: "call", index, json }];
  };

  return {
    count: () => calls.length,
    add(wire) {
      const piece = pieceOf(wire);
      const known = find(piece);
      // Whoever begins another call has said the name of the one before.
      const events = known ? [] : calls.flatMap(start);
      const call = known ?? begin(piece);
      if (isRepeated(piece, call)) return events;
      if (!call.started) {
        call.id ||= piece.id;
        if (piece.name !== call.name) call.name += piece.name;
      }
      if (piece.json === "") return events;
      call.json += piece.json;
      const added: ModelEvent = { type: "call", index: call.at, json: piece.json };
      return [...events, ...(call.started ? [added] : start(call))];
    },
    close: (ending) =>
      calls.map((call) => {
        const events = start(call);
        if (!call.started) throw malformed("a call without a name");
        const { at, id } = call;
        const block: ToolUse = {
          type: "tool_use",
          id,
          name: nameOf(call.name),
          ...inputOf(call.json, ending),
        };
        return { at, events: [...events, { type: "block.end", index: at, block }], block };
      }),
  };
}

type OpenCall = { readonly at: number; id: string; name: string; json: string; started: boolean };

type CallPiece = {
  readonly number: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly json: string;
};

function pieceOf(wire: Json): CallPiece {
  if (!isObject(wire)) throw malformed("a call that is no object");
  const called = asObject(wire["function"]);
  const { index } = wire;
  const input = called["arguments"];
  return {
    number: typeof index === "number" ? index : undefined,
    id: asText(wire["id"]),
    name: asText(called["name"]),
    json: isObject(input) ? JSON.stringify(input) : asText(input),
  };
}

/** Some servers give every call the same number: another id, or more behind a whole input, shows that it is another call. */
function isAnother({ id, name, json }: CallPiece, call: OpenCall): boolean {
  if (name === "") return false;
  if (id !== "" && call.id !== "") return id !== call.id;
  return json.trim() !== "" && call.json.endsWith("}") && parseObject(call.json) !== undefined;
}

/** Some servers say a whole call once more at its end. */
function isRepeated({ id, name, json }: CallPiece, call: OpenCall): boolean {
  return id !== "" && id === call.id && name === call.name && json !== "" && json === call.json;
}

/** What the model wrote as the input of a call; where it can only mean one thing it is mended. */
export function inputOf(text: string, ending: ReplyEnding): Pick<ToolUse, "input" | "broken" | "repaired"> {
  // No text is an input without fields, unless the reply was cut off before it came.
  if (text.trim() === "") return ending === "cut" ? { input: {}, broken: "" } : { input: {} };
  const kept = headBytes(text, maxBrokenBytes);
  const input = repairJson(text, ending);
  if (input === undefined) return { input: {}, broken: kept };
  return isObject(parseJson(text)) ? { input } : { input, repaired: kept };
}
