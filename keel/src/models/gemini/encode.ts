/**
 * A request as the bytes of the Gemini wire: contents of two roles in turn, each message written once and remembered. What
 * was said before stays byte for byte, so that the provider's own cache finds its start. The model stands in the address.
 */
import { isObject, wellFormedJson } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message, ResultPart, ToolResult } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { BytesSum, ModelInfo, RequestSums } from "../../protocol/usage.ts";
import { between, bodySums, bytesOf, comma, joined, type WrittenBody } from "../body-sums.ts";
import { effortFor, isShown, mediaText, remember, rememberFor, sumOf } from "../encoding.ts";
import { toolName } from "../openai/names.ts";
import { idOnWire } from "./names.ts";

export type GeminiEncoder = (
  request: ModelRequest,
  info: ModelInfo,
) => { readonly body: Uint8Array; readonly sums: RequestSums };

export function geminiEncoder(): GeminiEncoder {
  const messages = new WeakMap<Message, EncodedParts>();
  const tools = new WeakMap<ToolSpec, Uint8Array>();
  const systems = new WeakMap<readonly string[], Uint8Array>();
  const toolSums = new WeakMap<readonly ToolSpec[], BytesSum>();
  const systemSums = new WeakMap<readonly string[], BytesSum>();
  const sumOfBody = bodySums();

  return (request, info) => {
    const names = calledNames(request.messages);
    const reader = { model: request.model, images: info.abilities.images };
    const encoded = request.messages.map(
      rememberFor(messages, reader, (message, to) => encodeMessage(message, { ...to, names })),
    );
    const specs = request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool)));
    const system = remember(systems, request.system, () => encodeSystem(request.system));
    const spoken = encoded.filter(({ results, parts }) => results.length + parts.length > 0);
    const written = join(headOf(request, info), { system, tools: specs, messages: spoken });
    return {
      body: joined(written),
      sums: {
        body: sumOfBody(request.session, written),
        ...(specs.length === 0
          ? {}
          : { tools: remember(toolSums, request.tools, () => sumOf(between(specs, comma))) }),
        ...(system.length === 0
          ? {}
          : { system: remember(systemSums, request.system, () => sumOf([system])) }),
      },
    };
  };
}

/** A result names the tool that it is of. */
function calledNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { content } of messages)
    for (const block of content) if (block.type === "tool_use") names.set(block.id, block.name);
  return names;
}

type GeminiParts = {
  readonly system: Uint8Array;
  readonly tools: readonly Uint8Array[];
  readonly messages: readonly EncodedParts[];
};

function join(head: string, { system, tools, messages }: GeminiParts): WrittenBody {
  const turns: EncodedParts[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.[0]?.role === message.role) last.push(message);
    else turns.push([message]);
  }
  // Whoever speaks next may be joined to the last turn.
  const earlier = turns.slice(0, -1).map(contentOf);
  const last = turns.slice(-1).map(contentOf);
  const steady = [
    ...(system.length > 0 ? [openSystem, system, closeSystem] : []),
    ...(tools.length > 0 ? [openTools, ...between(tools, comma), closeTools] : []),
    openContents,
    ...earlier.flatMap((pieces, index) => (index > 0 ? [comma, ...pieces] : pieces)),
  ];
  const end = last.flatMap((pieces) => (earlier.length > 0 ? [comma, ...pieces] : pieces));
  return { head, pieces: [...steady, ...end, closeBody], steady: steady.length };
}

/** Results stand before all else that the user says. */
function contentOf(turn: readonly EncodedParts[]): Uint8Array[] {
  const parts = [...turn.flatMap(({ results }) => results), ...turn.flatMap((message) => message.parts)];
  return [turn[0]?.role === "assistant" ? openModel : openUser, ...between(parts, comma), closeContent];
}

const openSystem = bytesOf('"systemInstruction":{"parts":[{"text":');
const closeSystem = bytesOf("}]},");
const openTools = bytesOf('"tools":[{"functionDeclarations":[');
const closeTools = bytesOf("]}],");
const openContents = bytesOf('"contents":[');
const openUser = bytesOf('{"role":"user","parts":[');
const openModel = bytesOf('{"role":"model","parts":[');
const closeContent = bytesOf("]}");
const closeBody = bytesOf("]}");

/** All but the conversation; the first field of the body. */
function headOf(request: ModelRequest, info: ModelInfo): string {
  const thinkingConfig = thinkingOf(request, info);
  const config = { maxOutputTokens: request.maxOutputTokens, ...(thinkingConfig ? { thinkingConfig } : {}) };
  return `{"generationConfig":${wellFormedJson(config)},`;
}

/** Newer ones take a level, those before them a budget of tokens; what they thought is shown as a summary. */
function thinkingOf({ thinking, effort, model }: ModelRequest, { abilities }: ModelInfo): object | undefined {
  if (abilities.thinking === "none") return undefined;
  if (thinking.kind === "off" && abilities.thinkingOff === "disabled") return { thinkingBudget: 0 };
  const thinkingLevel = effortFor(effort, abilities.efforts ?? []);
  if (thinkingLevel !== undefined) return { includeThoughts: true, thinkingLevel };
  const isBudget = thinking.kind === "budget" && !isSigned(model);
  return { includeThoughts: true, ...(isBudget ? { thinkingBudget: Math.floor(thinking.tokens) } : {}) };
}

/** From the third generation on a call without its proof is refused. */
const isSigned = (model: string): boolean => /^gemini-(?:[3-9]|\d\d)/.test(model);

function encodeSystem(parts: readonly string[]): Uint8Array {
  const content = parts.filter((part) => part.trim() !== "").join("\n\n");
  return bytesOf(content === "" ? "" : wellFormedJson(content));
}

function encodeTool({ name, description, input }: ToolSpec): Uint8Array {
  return bytesOf(wellFormedJson({ name: toolName(name), description, parametersJsonSchema: input }));
}

/** What of a request decides how a message is written. */
type PartReader = { readonly model: string; readonly images: boolean };
type NamingReader = PartReader & { readonly names: ReadonlyMap<string, string> };

type EncodedParts = {
  readonly role: Message["role"];
  readonly results: readonly Uint8Array[];
  readonly parts: readonly Uint8Array[];
  readonly reader: PartReader | undefined;
};

function encodeMessage({ role, content }: Message, { names, ...reader }: NamingReader): EncodedParts {
  const results: object[] = [];
  const parts: object[] = [];
  let proof: string | undefined;
  let calls = 0;
  const proven = (part: object): object => {
    const signed = proof === undefined ? part : { ...part, thoughtSignature: proof };
    proof = undefined;
    return signed;
  };
  for (const block of content) {
    switch (block.type) {
      case "text":
        if (block.text.trim() !== "") parts.push(proven({ text: block.text }));
        break;
      case "image":
      case "document":
        parts.push(mediaPart(block, reader));
        break;
      case "tool_use": {
        // A call of another model has no proof that holds here, and the provider has a word that stands for one.
        if (calls === 0 && proof === undefined && isSigned(reader.model)) proof = noProof;
        calls += 1;
        const args = isObject(block.input) && block.broken === undefined ? block.input : {};
        parts.push(proven({ functionCall: { ...idOnWire(block.id), name: toolName(block.name), args } }));
        break;
      }
      case "tool_result":
        results.push(resultPart(block, reader, names.get(block.callId) ?? "unknown"));
        parts.push(
          ...block.content.filter((part) => isShown(part, reader)).map((part) => mediaPart(part, reader)),
        );
        break;
      case "thinking":
        // What it says is only a summary, which is not asked back.
        if (block.model === reader.model && block.signature !== undefined) proof = block.signature;
        break;
      case "foreign": {
        const data = isObject(block.data) ? block.data : {};
        if (block.provider === "google" && data["model"] === reader.model)
          parts.push({ text: "", thoughtSignature: data["thoughtSignature"] });
        break;
      }
      default:
        never(block);
    }
  }
  const written = (part: object): Uint8Array => bytesOf(wellFormedJson(part));
  return {
    role,
    results: results.map(written),
    parts: parts.map(written),
    reader: content.some(dependsOnReader) ? reader : undefined,
  };
}

/** The provider's own word for "this call was not made by me". */
const noProof = "skip_thought_signature_validator";

const dependsOnReader = (block: Block): boolean =>
  block.type !== "text" &&
  (block.type !== "tool_result" || block.content.some(({ type }) => type !== "text"));

function resultPart({ callId, content, failed }: ToolResult, reader: PartReader, name: string): object {
  const words = content
    .flatMap((part) => (part.type === "text" ? [part.text] : isShown(part, reader) ? [] : [mediaText(part)]))
    .filter((text) => text.trim() !== "")
    .join("\n");
  const silent = failed ? "the tool failed without a word." : "(no output)";
  const said = words === "" ? silent : words;
  const response = failed ? { error: said } : { output: said };
  return { functionResponse: { ...idOnWire(callId), name: toolName(name), response } };
}

type GeminiMedia = Extract<Block, { type: "image" | "document" }>;

function mediaPart(block: GeminiMedia | ResultPart, reader: PartReader): object {
  if (block.type === "text" || !isShown(block, reader)) return { text: mediaText(block) };
  return { inlineData: { mimeType: block.mediaType, data: block.data } };
}
