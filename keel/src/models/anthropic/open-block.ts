/** A block while it streams: what its deltas add, and what it is when it closes. */
import { asText, isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { headBytes } from "../../kernel/text.ts";
import type { ModelEvent } from "../../ports/model.ts";
import type { Block } from "../../protocol/message.ts";
import { malformed, maxBrokenBytes, parseInput } from "../read-answer.ts";

export type OpenBlock = {
  /** The block as it starts, still empty. */
  readonly shell: Block;
  /** The id of a call, which no other call of the message may have. */
  readonly callId?: string;
  /** What the start itself brought, as if it had come in a delta. */
  first(at: number): ModelEvent[];
  /** A delta that does not belong here is passed over. */
  add(delta: JsonObject, at: number): ModelEvent[];
  /** The same for a piece alone, where it is made of pieces of one type. */
  readonly pieces?: { readonly type: QuickType; add(piece: string, at: number): ModelEvent };
  close(): Block;
};

/** `wire` is what `content_block_start` carries; `model` wrote it. */
export function openBlock(wire: JsonObject, model: string): OpenBlock {
  switch (wire["type"]) {
    case "text":
      return openText(asText(wire["text"]));
    case "thinking":
      return openThinking({ model, text: asText(wire["thinking"]), signature: asText(wire["signature"]) });
    case "redacted_thinking":
      return openWhole({ type: "thinking", text: "", hidden: asText(wire["data"]), model });
    case "tool_use":
      return openCall(wire);
    default:
      return openForeign(wire);
  }
}

function openText(initial: string): OpenBlock {
  const text = new Gathered(initial);
  const add = (piece: string, index: number): ModelEvent => {
    text.add(piece);
    return { type: "text", index, text: piece };
  };
  return {
    shell: { type: "text", text: "" },
    first: (index) => (initial === "" ? [] : [{ type: "text", index, text: initial }]),
    add: (delta, index) => (delta["type"] === "text_delta" ? [add(asText(delta["text"]), index)] : []),
    pieces: { type: "text_delta", add },
    close: () => ({ type: "text", text: text.text() }),
  };
}

function openThinking(initial: { model: string; text: string; signature: string }): OpenBlock {
  const { model } = initial;
  const text = new Gathered(initial.text);
  let { signature } = initial;
  const shown = (index: number, thought: string, proof: string): ModelEvent[] => [
    ...(thought === "" ? [] : [{ type: "thinking", index, text: thought } as const]),
    ...(proof === "" ? [] : [{ type: "signature", index, text: proof } as const]),
  ];
  return {
    shell: { type: "thinking", text: "" },
    first: (index) => shown(index, initial.text, initial.signature),
    add(delta, index) {
      const thought = delta["type"] === "thinking_delta" ? asText(delta["thinking"]) : "";
      const proof = delta["type"] === "signature_delta" ? asText(delta["signature"]) : "";
      text.add(thought);
      signature += proof;
      return shown(index, thought, proof);
    },
    pieces: {
      type: "thinking_delta",
      add(piece, index) {
        text.add(piece);
        return { type: "thinking", index, text: piece };
      },
    },
    close: () => ({ type: "thinking", text: text.text(), ...(signature === "" ? {} : { signature }), model }),
  };
}

function openCall(wire: JsonObject): OpenBlock {
  const id = asText(wire["id"]);
  const name = asText(wire["name"]);
  if (id === "" || name === "") throw malformed("a call without id or name");
  const json = joinedJson(wire["input"]);
  return {
    shell: { type: "tool_use", id, name, input: {} },
    callId: id,
    first: (index) => (json.text() === "" ? [] : [{ type: "call", index, json: json.text() }]),
    add(delta, index) {
      const added = json.add(delta);
      return added === "" ? [] : [{ type: "call", index, json: added }];
    },
    close() {
      const input = json.parsed();
      if (isObject(input)) return { type: "tool_use", id, name, input };
      return { type: "tool_use", id, name, input: {}, broken: headBytes(json.text(), maxBrokenBytes) };
    },
  };
}

function openForeign(wire: JsonObject): OpenBlock {
  const whole = (data: JsonObject): Block => ({ type: "foreign", provider: "anthropic", data });
  const json = joinedJson(wire["input"]);
  return {
    ...openWhole(whole(wire)),
    add(delta) {
      json.add(delta);
      return [];
    },
    close: () => whole(json.isTouched() ? { ...wire, input: json.parsed() ?? {} } : wire),
  };
}

function openWhole(block: Block): OpenBlock {
  return { shell: block, first: () => [], add: () => [], close: () => block };
}

/** The input of a call: JSON that comes in pieces, or whole with the start. */
function joinedJson(initial: Json | undefined) {
  const isGiven = isObject(initial) && Object.keys(initial).length > 0;
  let text = isGiven ? JSON.stringify(initial) : "";
  let isTouched = false;
  return {
    text: () => text,
    isTouched: () => isTouched,
    add(delta: JsonObject): string {
      if (delta["type"] !== "input_json_delta") return "";
      const added = asText(delta["partial_json"]);
      // Pieces are the whole input: what the start held was a first state of it.
      text = isTouched ? text + added : added;
      isTouched = true;
      return added;
    },
    /** No text is an input without fields; undefined when it is not usable JSON. */
    parsed: (): Json | undefined => (text.trim() === "" ? {} : parseInput(text)),
  };
}

/**
 * The one event that a long reply consists of, a further piece of the text or thinking that is being written, cut out
 * without being parsed: it has one form, and where nothing in it is escaped the piece stands there as it is.
 */
type QuickType = "text_delta" | "thinking_delta";

/** How such an event begins, as it stands on the wire. */
export const startOf = (type: QuickType, index: number): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${fields[type]}":"`;

/** Undefined where it is another event, or one that must be parsed. */
export function pieceOf(record: string, start: string): string | undefined {
  if (!record.startsWith(start) || !record.endsWith(end)) return undefined;
  const piece = record.slice(start.length, -end.length);
  return escaped.test(piece) ? undefined : piece;
}

const fields = { text_delta: "text", thinking_delta: "thinking" } as const;
const end = '"}}';
// What JSON escapes or refuses in a text is left to JSON.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escaped = /["\\\0-\x1f]/;

/**
 * A text that comes in very many small pieces. Added to a string one by one they would all stay alive, and with them
 * what they were cut from, until somebody reads the string: here they are joined every now and then.
 */
class Gathered {
  #joined: string[] = [];
  #pieces: string[] = [];

  constructor(initial = "") {
    if (initial !== "") this.#joined.push(initial);
  }

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= maxPieces) this.#join();
  }

  text(): string {
    this.#join();
    const whole = this.#joined.join("");
    this.#joined = [whole];
    return whole;
  }

  #join(): void {
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}

const maxPieces = 256;
