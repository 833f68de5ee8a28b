/**
 * What was said, as attributes of spans in the form of the conventions' messages: only where a person wants it, and with
 * secrets covered. A request has what is new since the one before it, so that a long session is not told again and again.
 */
import { isObject, mapTexts } from "../../kernel/json.ts";
import { shorten } from "../../kernel/text.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { type Block, type ResultPart, text } from "../../protocol/message.ts";

/** Who keeps secrets out: it hears every text before any of them is shown. */
export type ContentCover = {
  hear(text: string): void;
  /** The same value without secrets in its texts. */
  cover<T>(value: T): T;
};

type SaidPart = { readonly type: string; readonly [field: string]: unknown };
type SaidMessage = { readonly role: "user" | "assistant" | "tool"; readonly parts: readonly SaidPart[] };
/** Of a span, each with its text. */
type SaidAttributes = Readonly<Record<string, string>>;
type LoggedEvent<T extends Durable["type"]> = Extract<Durable, { type: T }>;

/** Of one log, event by event. */
export class SpanContents {
  readonly #secrets: ContentCover;
  readonly #inputs = new Map<string, readonly Block[]>();
  /** What calls were made with, where hooks did not change it. */
  readonly #calls = new Map<string, unknown>();
  /** What no reply has answered yet, and how much of it each request on its way holds. */
  #fresh: SaidMessage[] = [];
  readonly #sent = new Map<string, number>();
  /** The prompt, until a request had it. */
  #prompt: LoggedEvent<"prompt.fixed"> | undefined;

  constructor(secrets: ContentCover) {
    this.#secrets = secrets;
  }

  take(event: Durable): void {
    handle(this.#handlers, event);
  }

  /** Of a request that was answered; it is taken for said then. */
  ofRequest({ requestId, content }: LoggedEvent<"model.finished">, finishReason: string): SaidAttributes {
    const count = this.#sent.get(requestId) ?? 0;
    this.#sent.delete(requestId);
    const said = this.#fresh.splice(0, count);
    const prompt = this.#prompt;
    this.#prompt = undefined;
    const reply = { role: "assistant", parts: partsOf(content), finish_reason: finishReason };
    return {
      ...(prompt
        ? {
            "gen_ai.system_instructions": this.#shown(prompt.system.map((words) => partOf(text(words)))),
            "gen_ai.tool.definitions": this.#shown(
              prompt.tools.map(({ name, description, input }) => ({
                type: "function",
                name,
                description,
                parameters: input,
              })),
            ),
          }
        : {}),
      "gen_ai.input.messages": this.#shown(said),
      "gen_ai.output.messages": this.#shown([reply]),
    };
  }

  ofCall({ callId, content }: LoggedEvent<"tool.finished">): SaidAttributes {
    const input = this.#calls.get(callId);
    this.#calls.delete(callId);
    return {
      ...(isObject(input) ? { "gen_ai.tool.call.arguments": this.#shown(input) } : {}),
      "gen_ai.tool.call.result": this.#shown({ parts: partsOf(content) }),
    };
  }

  readonly #handlers: EventHandlers<Durable, [], void> = {
    "prompt.fixed": (event) => {
      this.#prompt = event;
      this.#hear([event.system, event.tools]);
    },
    "input.accepted": ({ input: { id, content } }) => {
      this.#inputs.set(id, content);
      this.#hear(content);
    },
    "input.dropped": ({ inputId }) => void this.#inputs.delete(inputId),
    "turn.started": (event) => this.#takeInputs(event),
    "input.joined": (event) => this.#takeInputs(event),
    "context.added": ({ content }) => this.#add("user", content),
    "model.started": ({ requestId, purpose }) => {
      if (purpose === "turn") this.#sent.set(requestId, this.#fresh.length);
    },
    "model.failed": ({ requestId }) => void this.#sent.delete(requestId),
    "model.finished": ({ content }) => {
      for (const block of content) if (block.type === "tool_use") this.#calls.set(block.id, block.input);
      this.#hear(content);
    },
    "tool.started": ({ callId, input }) => {
      if (input === undefined) return;
      this.#calls.set(callId, input);
      this.#hear(input);
    },
    "tool.finished": ({ callId, content, within, context = [] }) => {
      this.#hear([content, context]);
      // What a program's calls gave only the program has seen.
      if (within === undefined)
        this.#fresh.push({
          role: "tool",
          parts: [{ type: "tool_call_response", id: callId, response: partsOf(content) }],
        });
      if (context.length > 0) this.#add("user", context.map(text));
    },
  };

  #takeInputs({ inputIds, context = [] }: LoggedEvent<"turn.started"> | LoggedEvent<"input.joined">): void {
    for (const id of inputIds) {
      this.#add("user", this.#inputs.get(id) ?? []);
      this.#inputs.delete(id);
    }
    if (context.length > 0) this.#add("user", context.map(text));
  }

  #add(role: SaidMessage["role"], content: readonly Block[]): void {
    this.#hear(content);
    if (content.length > 0) this.#fresh.push({ role, parts: partsOf(content) });
  }

  #hear(value: unknown): void {
    if (typeof value === "string") this.#secrets.hear(value);
    else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        if (!Array.isArray(value)) this.#secrets.hear(name);
        this.#hear(inner);
      }
  }

  /** Attributes have no depth: what has one stands in them as text. */
  #shown(value: object): string {
    return JSON.stringify(mapTexts(this.#secrets.cover(value), (words) => shorten(words, maxCharacters)));
  }
}

/** Of one text, cut behind the cover: a secret that is cut in two would not be known. */
const maxCharacters = 20_000;

const partsOf = (content: readonly (Block | ResultPart)[]): SaidPart[] => content.map(partOf);

/** What is no text is named with its size: its bytes are nothing to look through. */
function partOf(block: Block | ResultPart): SaidPart {
  switch (block.type) {
    case "text":
      return { type: "text", content: block.text };
    case "thinking":
      return { type: "reasoning", content: block.text };
    case "tool_use":
      return { type: "tool_call", id: block.id, name: block.name, arguments: block.broken ?? block.input };
    case "tool_result":
      return { type: "tool_call_response", id: block.callId, response: partsOf(block.content) };
    case "image":
    case "document":
      return {
        type: "generic",
        generic_type: block.type,
        mime_type: block.mediaType,
        characters: block.data.length,
      };
    case "foreign":
      return { type: "generic", generic_type: block.provider };
  }
}
