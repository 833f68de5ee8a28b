/** A model that follows a script, in memory: the Model port without a network. It refuses what a provider refuses. */
import { prefixOf } from "../core/context/prefix.ts";
import { whenAborted } from "../kernel/abort.ts";
import { type Fault, fault } from "../kernel/fault.ts";
import type { ProviderFaultCode } from "../kernel/faults.ts";
import { never } from "../kernel/result.ts";
import type { Clock } from "../ports/clock.ts";
import type { Model, ModelEvent, ModelRequest } from "../ports/model.ts";
import type { Block } from "../protocol/message.ts";
import { type ModelInfo, noUsage, type Usage } from "../protocol/usage.ts";
import {
  brokenOff,
  isAnswered,
  type ReadyBlock,
  type ReadyReply,
  ScriptAnswers,
  type ScriptFunction,
  streamed,
} from "./answers.ts";
import { instantClock } from "./fake-clock.ts";
import { countBlocks, promptCache } from "./prompt-cache.ts";
import { viewOf } from "./read-request.ts";
import { codeOfType } from "./reply.ts";
import { type RequestLaw, requestLaw } from "./request-law.ts";
import { violationsIn } from "./request-rules.ts";
import type { ReplyFault, Script } from "./script.ts";
import type { MarkedBlock } from "./wires/wire.ts";

export type ScriptedModel = Model & {
  /** Every request that came, also those that were refused, in their order. */
  readonly requests: readonly ModelRequest[];
  /** What the requests are held to; a session's listener tells it of declared boundaries. */
  readonly law: RequestLaw | undefined;
};

export type ScriptedModelOptions = {
  /** Delays of the script pass on this clock. Without one they pass at once. */
  readonly clock?: Clock;
  /** What `info` says beyond the model's name. */
  readonly info?: Partial<Omit<ModelInfo, "id">>;
  /** `none` for measurements, where checking would be measured too. */
  readonly check?: "strict" | "none";
  /** One that is shared with other models, or none where a test breaks it on purpose. */
  readonly law?: RequestLaw | "none";
  /** Usage as a provider with a prompt cache would count it, in place of what the script says. */
  readonly cache?: "simulated";
};

/** Prices of a model of the middle class, so that costs are not zero. */
export const testModelInfo: Omit<ModelInfo, "id" | "name"> = {
  provider: "scripted",
  windowTokens: 200_000,
  maxOutputTokens: 32_000,
  prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteLong: 6, asOf: "2026-01-01" },
  abilities: { tools: true, images: true, thinking: "budget", cache: true },
};

export function scriptedModel(
  script: Script | ScriptFunction<ModelRequest>,
  { clock = instantClock(), info = {}, check = "strict", law: given, cache }: ScriptedModelOptions = {},
): ScriptedModel {
  const law = given === "none" || check === "none" ? undefined : (given ?? requestLaw());
  const simulated = cache && promptCache({ now: () => clock.now() });
  const answers = new ScriptAnswers<ModelRequest>(script);
  const requests: ModelRequest[] = [];

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (signal.aborted) throw aborted(signal);
    // The lists may belong to something that grows; what was seen must stay as it was.
    requests.push({
      ...request,
      system: [...request.system],
      tools: [...request.tools],
      messages: [...request.messages],
    });
    const view = viewOf(request);
    const violations = law ? law.check(request) : check === "strict" ? violationsIn(view) : [];
    if (violations.length > 0)
      throw fault("model_bad_request", { reason: violations.join("; "), status: 400 });

    const scripted = await answers.next(request, view);
    const reply =
      simulated && isAnswered(scripted) ? { ...scripted, usage: usageOf(request, scripted) } : scripted;
    let waitMs = reply.delayMs;
    for (const event of eventsUntilFault(reply)) {
      await pause(waitMs, clock, signal);
      yield event;
      waitMs = reply.betweenMs;
    }
    if (reply.fault?.kind === "stall") {
      await whenAborted(signal);
      throw aborted(signal);
    }
    const ending = reply.fault && faultOf(reply.fault, request.model);
    // A good reply has had its end: nothing may come after it, not even that somebody stopped it now.
    if (!ending) return;
    await pause(waitMs, clock, signal);
    throw ending;
  }

  function usageOf(request: ModelRequest, { blocks }: ReadyReply): Usage {
    const input = simulated?.count({ model: request.model, blocks: markedPrefix(request) });
    const said = { ...request, messages: [{ role: "assistant" as const, content: blocks.map(blockOf) }] };
    const words = markedPrefix(said).filter(({ section }) => section === "messages");
    return { ...noUsage, ...input, outputTokens: countBlocks(words) };
  }

  return {
    requests,
    law,
    info: (model) => ({ ...testModelInfo, name: model, ...info, id: model }),
    stream,
  };
}

/** All events of a good reply; of a broken one those that come before it breaks. */
function eventsUntilFault(reply: ReadyReply): Iterable<ModelEvent> {
  const broken = reply.fault;
  if (broken === undefined) return eventsOf(reply);
  if (broken.kind === "cut" || broken.kind === "stall") return brokenOff(eventsOf(reply), broken.afterEvents);
  if (faultOf(broken, reply.model)) return [];
  return eventsOf(
    broken.kind === "malformed" ? { ...reply, usage: readableUsage(broken.how, reply.usage) } : reply,
  );
}

function* eventsOf(reply: ReadyReply): Generator<ModelEvent> {
  yield {
    type: "start",
    providerId: reply.id,
    model: reply.model,
    usage: { ...reply.usage, outputTokens: 0 },
  };
  const content: Block[] = [];
  for (const [index, ready] of reply.blocks.entries()) {
    const block = blockOf(ready);
    yield { type: "block.start", index, block: emptied(block) };
    yield* deltasOf(ready, index, reply.chunkChars);
    yield { type: "block.end", index, block };
    content.push(block);
  }
  yield { type: "end", stop: reply.stop, usage: reply.usage, content, providerId: reply.id };
}

function* deltasOf(block: ReadyBlock, index: number, chars: number): Generator<ModelEvent> {
  for (const piece of streamed(block, chars)) {
    if (block.type === "tool_use") yield { type: "call", index, json: piece };
    else if (block.type !== "foreign") yield { type: block.type, index, text: piece };
  }
  if (block.type === "thinking" && block.hidden === undefined)
    yield { type: "signature", index, text: block.signature };
}

function blockOf(ready: ReadyBlock): Block {
  switch (ready.type) {
    case "text":
      return { type: "text", text: ready.text };
    case "thinking":
      return ready.hidden === undefined
        ? { type: "thinking", text: ready.text, signature: ready.signature }
        : { type: "thinking", text: "", hidden: ready.hidden };
    case "tool_use":
      return ready.input
        ? { type: "tool_use", id: ready.id, name: ready.name, input: ready.input }
        : { type: "tool_use", id: ready.id, name: ready.name, input: {}, broken: ready.json };
    case "foreign":
      return { type: "foreign", provider: "scripted", data: ready.data };
    default:
      return never(ready);
  }
}

/** A block as it starts: its text and its arguments are still to come. */
function emptied(block: Block): Block {
  if (block.type === "text") return { type: "text", text: "" };
  if (block.type === "thinking" && block.hidden === undefined) return { type: "thinking", text: "" };
  if (block.type === "tool_use") return { type: "tool_use", id: block.id, name: block.name, input: {} };
  return block;
}

/** What an adapter makes of a broken reply; undefined for what it puts right or passes over. */
function faultOf(broken: ReplyFault, model: string): Fault | undefined {
  switch (broken.kind) {
    case "http": {
      const { status, headers, message: reason } = broken;
      const seconds = Number(headers?.["retry-after"]);
      const retry = Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {};
      return fault(codeOf(broken), { reason, status, model, ...retry });
    }
    case "cut":
      return broken.error
        ? fault(codeOfType(broken.error.type) ?? "server_error", { reason: broken.error.message, model })
        : fault("stream_cut", {});
    case "reset":
      return fault("unreachable", { reason: "the connection was reset" });
    case "malformed":
      return malformedFault(broken.how);
    // The engine's own deadline ends a stalled reply.
    case "stall":
      return undefined;
    default:
      return never(broken);
  }
}

function codeOf({ status, type, message }: ReplyFault & { kind: "http" }): ProviderFaultCode {
  if (status === 400) return /too long/i.test(message) ? "prompt_too_long" : "model_bad_request";
  if (status === 529) return "overloaded";
  return codeOfType(type) ?? (status >= 500 ? "server_error" : "model_bad_request");
}

function malformedFault(how: (ReplyFault & { kind: "malformed" })["how"]): Fault | undefined {
  switch (how) {
    case "two-message-starts":
    case "delta-before-start":
    case "wrong-content-type":
    case "garbage":
      return fault("stream_malformed", { reason: how });
    case "gzip-cut":
      return fault("stream_cut", {});
    // A reader stops at the end of the message, and counts that make no sense are read as none.
    case "call-after-end":
    case "negative-usage":
    case "missing-usage":
      return undefined;
    default:
      return never(how);
  }
}

const readableUsage = (how: string, usage: Usage): Usage =>
  how === "negative-usage" || how === "missing-usage" ? noUsage : usage;

async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal);
  if (signal.aborted) throw aborted(signal);
}

const aborted = (signal: AbortSignal): Fault => fault("aborted", { cause: signal.reason });

/**
 * A request of the engine as a provider's cache would see it, marked where our adapter for the Messages wire marks: the
 * last block of system or tools, the last message, and the last one of the user before the last reply.
 */
function markedPrefix(request: ModelRequest): MarkedBlock[] {
  const blocks = prefixOf(request);
  const prompt = blocks.findLastIndex(({ section }) => section === "tools" || section === "system");
  const last = blocks.length - 1;
  const reply = blocks.findLastIndex(({ name }, index) => index < last && name.startsWith("assistant"));
  const earlier = blocks.findLastIndex(({ name }, index) => index < reply && name.startsWith("user"));
  const marked = new Set([prompt, last, earlier]);
  return blocks.map((block, index) => ({ ...block, mark: marked.has(index) ? "5m" : undefined }));
}
