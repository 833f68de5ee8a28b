/** Picks the reply to each request and makes it ready: ids filled in, stop and usage decided. The same for every wire. */
import { fault } from "../kernel/fault.ts";
import { isObject, type JsonObject, parseJson, present } from "../kernel/json.ts";
import type { Stop } from "../protocol/reasons.ts";
import type { Usage } from "../protocol/usage.ts";
import { joinTurns, plainText, type RequestView, resultText } from "./request-view.ts";
import type { Condition, Reply, ReplyFault, Script, ScriptBlock } from "./script.ts";

/** What conditions and functions of a script may ask about a request. */
export type Asked = {
  /** Counts the requests of this script from 1. */
  readonly number: number;
  readonly model: string;
  readonly system: string;
  /** The text of the newest message of the user, without tool results. */
  readonly lastUser: string;
  /** The text of the tool results in the newest message. */
  readonly toolResults: string;
  readonly toolNames: readonly string[];
  /** How many replies the conversation already holds. */
  readonly assistantTurns: number;
};

/** A script that thinks for itself. `R` is the request as the model port or the wire has it. */
export type ScriptFunction<R> = (request: R, asked: Asked) => Reply | Promise<Reply>;

export type ReadyBlock =
  | Exclude<ScriptBlock, { type: "tool_use" | "thinking" }>
  | { type: "thinking"; text: string; signature: string; hidden: string | undefined }
  /** `json` is what is sent; `input` is undefined when that is not an object in JSON. */
  | { type: "tool_use"; id: string; name: string; json: string; input: JsonObject | undefined };

/** A reply with nothing left open. */
export type ReadyReply = {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly ReadyBlock[];
  readonly stop: Stop;
  readonly usage: Usage;
  readonly chunkChars: number;
  readonly delayMs: number;
  readonly betweenMs: number;
  readonly fault: ReplyFault | undefined;
};

/** How a reply breaks the rules of its wire, if it does. */
export const malformedHow = ({ fault: broken }: ReadyReply): string | undefined =>
  broken?.kind === "malformed" ? broken.how : undefined;

/** A call that comes after the end of a reply. */
export const lateCall = (id: string): ReadyBlock => ({
  type: "tool_use",
  id,
  name: "Bash",
  json: '{"command":"echo late"}',
  input: { command: "echo late" },
});

/** Whether the model gets to work at all: a refusal and a lost connection cost nothing and keep nothing. */
export const isAnswered = ({ fault: broken }: ReadyReply): boolean =>
  broken?.kind !== "http" && broken?.kind !== "reset";

/** What a reply uses when its script does not say: enough to make costs visible. */
export const defaultUsage: Usage = {
  inputTokens: 100,
  outputTokens: 20,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

const defaultChunkChars = 24;

/** A signature that no provider would accept, and ours does. */
const testSignature = "c2NyaXB0ZWQ=";

export class ScriptAnswers<R> {
  readonly #script: Script | ScriptFunction<R>;
  readonly #replies: Reply[];
  readonly #uses: number[];
  #requests = 0;
  #messages = 0;
  #calls = 0;

  constructor(script: Script | ScriptFunction<R>) {
    this.#script = script;
    this.#replies = typeof script === "function" ? [] : [...script.replies];
    this.#uses = typeof script === "function" ? [] : (script.rules ?? []).map(() => 0);
  }

  async next(request: R, view: RequestView): Promise<ReadyReply> {
    this.#requests += 1;
    const asked = askedIn(view, this.#requests);
    const reply =
      typeof this.#script === "function"
        ? await this.#script(request, asked)
        : this.#pick(this.#script, asked);
    return this.#ready(reply, view);
  }

  #pick(script: Script, asked: Asked): Reply {
    const rules = script.rules ?? [];
    const index = rules.findIndex(
      ({ when, times }, at) =>
        (this.#uses[at] ?? 0) < (times ?? Number.POSITIVE_INFINITY) && holds(when, asked),
    );
    const rule = rules[index];
    if (rule) this.#uses[index] = (this.#uses[index] ?? 0) + 1;
    const reply = rule?.reply ?? this.#replies.shift() ?? script.otherwise;
    if (reply) return reply;
    throw fault("model_bad_request", {
      reason: `the script has no reply to request ${asked.number}`,
      status: 400,
    });
  }

  #ready(reply: Reply, view: RequestView): ReadyReply {
    this.#messages += 1;
    const taken = takenIds(reply, view);
    const blocks = reply.blocks.map((block) => this.#readyBlock(block, taken));
    const hasCalls = blocks.some(({ type }) => type === "tool_use");
    return {
      id: `msg_scripted_${padded(this.#messages)}`,
      model: view.model,
      blocks,
      stop: reply.stop ?? (hasCalls ? "tool_use" : "end"),
      usage: { ...defaultUsage, ...present(reply.usage ?? {}) },
      chunkChars: reply.chunkChars ?? defaultChunkChars,
      delayMs: reply.delayMs ?? 0,
      betweenMs: reply.betweenMs ?? 0,
      fault: reply.fault,
    };
  }

  #readyBlock(block: ScriptBlock, taken: ReadonlySet<string>): ReadyBlock {
    if (block.type === "thinking")
      return { ...block, signature: block.signature ?? testSignature, hidden: block.hidden };
    if (block.type !== "tool_use") return block;
    const json = block.rawInput ?? JSON.stringify(block.input ?? {});
    const id = block.id ?? this.#freeId(taken);
    // Arguments that are not JSON are scripted on purpose.
    const input = parseJson(json);
    return { type: "tool_use", id, name: block.name, json, input: isObject(input) ? input : undefined };
  }

  /** A script that is started anew in the middle of a conversation must not repeat the ids of its beginning. */
  #freeId(taken: ReadonlySet<string>): string {
    let id: string;
    do {
      this.#calls += 1;
      id = `toolu_scripted_${padded(this.#calls)}`;
    } while (taken.has(id));
    return id;
  }
}

export function askedIn(view: RequestView, number: number): Asked {
  const turns = joinTurns(view.messages);
  const newest = turns.findLast(({ role }) => role === "user")?.blocks ?? [];
  return {
    number,
    model: view.model,
    system: view.system.map(({ text }) => text).join("\n"),
    lastUser: plainText(newest),
    toolResults: resultText(newest),
    toolNames: view.tools.map(({ name }) => name),
    assistantTurns: turns.filter(({ role }) => role === "assistant").length,
  };
}

/** Pieces of a text for deltas; a character is never cut in two. At least one piece, as providers send it. */
export function* pieces(text: string, chars: number): Generator<string> {
  if (text === "") yield "";
  for (let at = 0; at < text.length; ) {
    const end = at + chars;
    const splitsPair = isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length;
    const to = splitsPair ? end + 1 : end;
    yield text.slice(at, to);
    at = to;
  }
}

/** The pieces in which a block streams: none of what a provider hides, nor of what only it understands. */
export function* streamed(block: ReadyBlock, chars: number): Generator<string> {
  if (block.type === "foreign" || (block.type === "thinking" && block.hidden !== undefined)) return;
  yield* pieces(block.type === "tool_use" ? block.json : block.text, chars);
}

/** The start of a stream that will break: at most `count` items, and never the last one. */
export function* brokenOff<T>(items: Iterable<T>, count: number): Generator<T> {
  let held: { readonly item: T } | undefined;
  let sent = 0;
  for (const item of items) {
    if (held) {
      if (sent === count) return;
      yield held.item;
      sent += 1;
    }
    held = { item };
  }
}

function holds(when: Condition, asked: Asked): boolean {
  const contains = (text: string, part: string | undefined) => part === undefined || text.includes(part);
  return (
    contains(asked.system, when.systemContains) &&
    contains(asked.lastUser, when.lastUserContains) &&
    contains(asked.model, when.modelContains) &&
    contains(asked.toolResults, when.toolResultContains)
  );
}

function takenIds(reply: Reply, view: RequestView): ReadonlySet<string> {
  if (!reply.blocks.some(({ type }) => type === "tool_use")) return new Set();
  const blocks = view.messages.flatMap((message) => message.blocks);
  return new Set(blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])));
}

const padded = (value: number): string => String(value).padStart(4, "0");

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
