/**
 * A request as the bytes of the Responses wire: a flat list of items, each written once and remembered by its message.
 * What was said before stays byte for byte, so that the provider finds its cached start by itself. Nothing is kept at the
 * provider (`store: false`): what the model thought comes back encrypted, is kept in the log, and goes with the next
 * request as the very item that came.
 */
import { isObject, parseJson, wellFormedJson } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { ModelRequest } from "../../ports/model.ts";
import type { Block, Message, ResultPart, ToolResult, ToolUse } from "../../protocol/message.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { BytesSum, ModelInfo, RequestSums } from "../../protocol/usage.ts";
import { between, bodySums, bytesOf, comma, joined, type WrittenBody } from "../body-sums.ts";
import { effortFor, isShown, mediaText, remember, rememberFor, sumOf } from "../encoding.ts";
import { callId, toolName } from "../openai/names.ts";
import type { ResponsesFields } from "./fields.ts";

export type ResponsesEncoder = (
  request: ModelRequest,
  info: ModelInfo,
  fields: ResponsesFields,
) => { readonly body: Uint8Array; readonly sums: RequestSums };

export function responsesEncoder(): ResponsesEncoder {
  const messages = new WeakMap<Message, EncodedItems>();
  const tools = new WeakMap<ToolSpec, Uint8Array>();
  const systems = new WeakMap<readonly string[], Uint8Array>();
  const toolSums = new WeakMap<readonly ToolSpec[], BytesSum>();
  const systemSums = new WeakMap<readonly string[], BytesSum>();
  const sumOfBody = bodySums();

  return (request, info, fields) => {
    const reader = { model: request.model, images: info.abilities.images };
    const items = request.messages
      .map(rememberFor(messages, reader, encodeMessage))
      .flatMap(({ items }) => items);
    const specs = request.tools.map((tool) => remember(tools, tool, () => encodeTool(tool)));
    const system = remember(systems, request.system, () => encodeSystem(request.system));
    const written = join(headOf(request, info, fields), { system, tools: specs, items });
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

type ResponsesParts = {
  readonly system: Uint8Array;
  readonly tools: readonly Uint8Array[];
  readonly items: readonly Uint8Array[];
};

function join(head: string, { system, tools, items }: ResponsesParts): WrittenBody {
  const steady = [
    ...(system.length > 0 ? [openInstructions, system] : []),
    ...(tools.length > 0 ? [openTools, ...between(tools, comma), closeList] : []),
    openInput,
    ...between(items, comma),
  ];
  return { head, pieces: [...steady, closeBody], steady: steady.length };
}

/** All but the conversation, without the brace that closes it. */
function headOf(request: ModelRequest, info: ModelInfo, fields: ResponsesFields): string {
  const thinks = info.abilities.thinking !== "none";
  const reasoning = thinks && fields.reasoning ? reasoningField(request, info, fields) : undefined;
  const head = wellFormedJson({
    model: request.model,
    max_output_tokens: request.maxOutputTokens,
    stream: true,
    ...(fields.store ? { store: false } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(thinks && fields.include ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(fields.prompt_cache_key ? { prompt_cache_key: request.cacheKey ?? request.session } : {}),
  });
  return head.slice(0, -1);
}

/** Without a level the provider's own holds. A summary is what a person sees of it. */
function reasoningField(
  { thinking, effort: wanted }: ModelRequest,
  { abilities }: ModelInfo,
  fields: ResponsesFields,
): object | undefined {
  const isOff = thinking.kind === "off" && abilities.thinkingOff === "disabled";
  const level = isOff ? "none" : effortFor(wanted, abilities.efforts ?? []);
  const effort = level === undefined || !fields["reasoning.effort"] ? {} : { effort: level };
  const summary = isOff || !fields["reasoning.summary"] ? {} : { summary: "auto" };
  const field = { ...effort, ...summary };
  return Object.keys(field).length === 0 ? undefined : field;
}

const openInstructions = bytesOf(',"instructions":');
const openTools = bytesOf(',"tools":[');
const openInput = bytesOf(',"input":[');
const closeList = bytesOf("]");
const closeBody = bytesOf("]}");

function encodeSystem(parts: readonly string[]): Uint8Array {
  const content = parts.filter((part) => part.trim() !== "").join("\n\n");
  return bytesOf(content === "" ? "" : wellFormedJson(content));
}

/** Not strict: schemas of tools leave fields out, which the strict form does not know. */
function encodeTool({ name, description, input }: ToolSpec): Uint8Array {
  const about = description === "" ? {} : { description };
  return bytesOf(
    wellFormedJson({ type: "function", name: toolName(name), ...about, parameters: input, strict: false }),
  );
}

/** What of a request decides how a block is written. */
type ItemReader = { readonly model: string; readonly images: boolean };

type EncodedItems = { readonly items: readonly Uint8Array[]; readonly reader: ItemReader | undefined };

function encodeMessage({ role, content }: Message, reader: ItemReader): EncodedItems {
  const items: object[] = [];
  let parts: object[] = [];
  const say = (): void => {
    if (parts.length > 0) items.push({ type: "message", role, content: parts });
    parts = [];
  };
  for (const [at, block] of content.entries()) {
    switch (block.type) {
      case "text":
        if (block.text.trim() !== "")
          parts.push({ type: role === "user" ? "input_text" : "output_text", text: block.text });
        break;
      case "image":
      case "document":
        parts.push(mediaPart(block, reader));
        break;
      case "tool_use":
        say();
        items.push(callItem(block));
        break;
      case "tool_result":
        say();
        items.push(resultItem(block, reader));
        break;
      case "thinking": {
        const thought = thoughtItem(block, reader);
        // The provider refuses a thought that nothing came of.
        if (thought && isFollowed(content.slice(at + 1))) {
          say();
          items.push(thought);
        }
        break;
      }
      case "foreign":
        break;
      default:
        never(block);
    }
  }
  say();
  return {
    items: items.map((item) => bytesOf(wellFormedJson(item))),
    reader: content.some(dependsOnReader) ? reader : undefined,
  };
}

const dependsOnReader = (block: Block): boolean =>
  block.type === "thinking" ||
  isMedia(block) ||
  (block.type === "tool_result" && block.content.some(isMedia));

const isMedia = (block: Block | ResultPart): boolean => block.type === "image" || block.type === "document";

const isFollowed = (rest: readonly Block[]): boolean =>
  rest.some((block) => block.type === "tool_use" || (block.type === "text" && block.text.trim() !== ""));

/** The item that came, word for word; what another model thought, or what is not encrypted, is not sent. */
function thoughtItem(
  { signature, model }: Extract<Block, { type: "thinking" }>,
  reader: ItemReader,
): object | undefined {
  if (signature === undefined || model !== reader.model) return undefined;
  const item = parseJson(signature);
  return isObject(item) && item["type"] === "reasoning" && typeof item["encrypted_content"] === "string"
    ? item
    : undefined;
}

/** What was not valid JSON was answered with an error; the call itself must still hold an object. */
function callItem({ id, name, input, broken }: ToolUse): object {
  const args = isObject(input) && broken === undefined ? wellFormedJson(input) : "{}";
  return { type: "function_call", call_id: callId(id), name: toolName(name), arguments: args };
}

/** The wire has no mark for a failure: the words say it. */
const failureMark = "Error: ";

function resultItem({ callId: id, content, failed }: ToolResult, reader: ItemReader): object {
  const shown = content.filter((part) => part.type !== "text" && isShown(part, reader));
  const words = content
    .flatMap((part) => (part.type === "text" ? [part.text] : isShown(part, reader) ? [] : [mediaText(part)]))
    .filter((text) => text.trim() !== "")
    .join("\n");
  const silent = shown.length > 0 ? "" : failed ? "the tool failed without a word." : "(no output)";
  const said = `${failed ? failureMark : ""}${words === "" ? silent : words}`;
  const parts = [
    ...(said === "" ? [] : [{ type: "input_text", text: said }]),
    ...shown.map((part) => mediaPart(part as ResponsesMedia, reader)),
  ];
  return { type: "function_call_output", call_id: callId(id), output: shown.length === 0 ? said : parts };
}

type ResponsesMedia = Extract<Block, { type: "image" | "document" }>;

function mediaPart(block: ResponsesMedia, reader: ItemReader): object {
  if (!isShown(block, reader)) return { type: "input_text", text: mediaText(block) };
  const url = `data:${block.mediaType};base64,${block.data}`;
  if (block.type === "image") return { type: "input_image", image_url: url };
  return { type: "input_file", filename: block.name ?? "document.pdf", file_data: url };
}
