/** What replies: one request in, one streamed reply out. */
import type { Stream } from "../kernel/one-by-one.ts";
import type { Block, Message } from "../protocol/message.ts";
import type { Stop } from "../protocol/reasons.ts";
import type { ThinkingWish } from "../protocol/settings.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import type { ModelInfo, RequestSums, Usage } from "../protocol/usage.ts";

/** A whole request to a model: a pure projection of the log. */
export type ModelRequest = {
  readonly model: string;
  readonly system: readonly string[];
  readonly tools: readonly ToolSpec[];
  /** Alternation of roles is not promised here: neighbours of one role are joined by the adapter. */
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
  readonly thinking: ThinkingWish;
  readonly effort?: string | undefined;
  /** Requests of one session share this, so that a provider can route them to the same cache. */
  readonly session: string;
  /** In place of `session`, where a request starts like those of another one. */
  readonly cacheKey?: string | undefined;
};

/**
 * What a model sends. Exactly one `end` comes last, or the stream throws a Fault; never both, and nothing after.
 * Keep-alives are not events: silence counts although bytes flow.
 */
export type ModelEvent =
  | {
      type: "start";
      providerId?: string | undefined;
      model: string;
      usage?: Usage | undefined;
      /** What the model cannot take of what it is sent, for a person to know; each is told once. */
      notices?: readonly string[] | undefined;
    }
  | { type: "block.start"; index: number; block: Block }
  | { type: "text"; index: number; text: string }
  | { type: "thinking"; index: number; text: string }
  | { type: "signature"; index: number; text: string }
  | { type: "call"; index: number; json: string }
  | { type: "block.end"; index: number; block: Block }
  | {
      type: "end";
      stop: Stop;
      usage: Usage;
      /** What was told was no count that a provider can mean. */
      usageUnsure?: true | undefined;
      content: Block[];
      providerId?: string | undefined;
    };

export type ModelStream = Stream<ModelEvent>;

export interface Model {
  /** What is known about a model, from data only. An unknown one gets careful defaults and no prices. */
  info(model: string): ModelInfo;
  /** Writes down what the next `stream` will be given, and says what it is made of. Never throws. */
  prepare?(request: ModelRequest): RequestSums | undefined | Promise<RequestSums | undefined>;
  /**
   * Streams one reply. Throws a Fault from the table: `retryable(code)` says which may be tried again; its detail may
   * hold `retryAfterMs` and `status`. An aborted signal ends it with the fault `aborted`.
   */
  stream(request: ModelRequest, signal: AbortSignal): ModelStream;
}
