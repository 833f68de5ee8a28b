/** What a host application may send, one JSON object a line: each input's form, and what a wrong line is answered with. */
import * as z from "zod/mini";
import { base64, imageTypes } from "../../app/lines/pictures.ts";
import { type BadLine, cut, readFields, readObject } from "../../app/lines/read-line.ts";
import { own } from "../../kernel/json.ts";
import { failed, type Result } from "../../kernel/result.ts";
import { inquireFields } from "../../protocol/inquiry.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { permissionModeSchema } from "../../protocol/settings.ts";
import type { LineRead } from "../../transport/lines.ts";

const words = z.string().check(z.minLength(1));
/** It is sent to a provider and shown on screens: longer, or of several lines, it names no model. */
const modelName = z.string().check(z.minLength(1), z.maxLength(256), z.regex(/^[^\p{Cc}\u2028\u2029]*$/u));
/** Ids of inputs are UUIDs, as everywhere: a checkpoint is named by one. */
const uuid = z.string().check(z.regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i));
/** Given back with the answer, so that a host can tell answers apart. */
const named = { id: z.optional(words) };
const contentBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("image"),
    source: z.object({ type: z.literal("base64"), media_type: imageTypes, data: base64 }),
  }),
]);

/** A file with its text, or one of the working folder by its path; an image with its bytes. */
const attachment = z.union([
  z.object({ type: z.literal("image"), mediaType: imageTypes, data: base64, path: z.optional(words) }),
  z.object({ type: z.optional(z.literal("file")), path: words, content: z.optional(z.string()) }),
]);
export type Attachment = z.infer<typeof attachment>;

const answerText = z.union([z.string(), z.array(z.string())]);

const input = <Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) =>
  z.object({ type: z.literal(type), ...named, ...fields });

export const inputSchemas = {
  message: z.object({
    type: z.literal("message"),
    /** Every event of its turn carries it. */
    id: z.optional(uuid),
    content: z.union([words, z.array(contentBlock).check(z.minLength(1))]),
    attachments: z.optional(z.array(attachment)),
  }),
  stop: input("stop", {}),
  interrupt: input("interrupt", {}),
  set_model: input("set_model", { model: modelName }),
  set_permission_mode: input("set_permission_mode", { mode: permissionModeSchema }),
  set_max_thinking_tokens: input("set_max_thinking_tokens", {
    /** Null or 0: no thinking. */
    maxThinkingTokens: z.nullable(z.int().check(z.minimum(0), z.maximum(1_000_000))),
  }),
  get_supported_models: input("get_supported_models", {}),
  get_supported_commands: input("get_supported_commands", {}),
  get_mcp_status: input("get_mcp_status", {}),
  /** Whatever the table of inquiries has. */
  inquire: input("inquire", { ...inquireFields }),
  get_account_info: input("get_account_info", {}),
  rewind_files: input("rewind_files", {
    checkpoint: uuid,
    /** Only say what would change. */
    preview: z.optional(z.boolean()),
  }),
  user_question_response: input("user_question_response", {
    requestId: words,
    /** By the words of the question. */
    answers: z.optional(z.record(z.string(), answerText)),
    /** Where there is one question. */
    answer: z.optional(answerText),
    /** The person does not answer. */
    cancelled: z.optional(z.boolean()),
  }),
  plan_approval_response: input("plan_approval_response", {
    requestId: words,
    approved: z.boolean(),
    /** `acceptEdits`: and files are edited without a question from now on. */
    mode: z.optional(z.enum(["default", "acceptEdits"])),
    reason: z.optional(z.string()),
    /** The plan as the person changed it. */
    plan: z.optional(words),
  }),
  tool_approval_response: input("tool_approval_response", {
    requestId: words,
    approved: z.boolean(),
    /** One of the options of the request, such as the one that is remembered. */
    option: z.optional(words),
    reason: z.optional(z.string()),
    /** A changed input; it is decided again. */
    input: z.optional(jsonSchema),
    /** What a server's own question is answered with. */
    data: z.optional(jsonSchema),
  }),
  set_mcp_servers: input("set_mcp_servers", {
    servers: z.record(z.string(), z.record(z.string(), jsonSchema)),
  }),
} as const;

export type InputType = keyof typeof inputSchemas;
export type RunnerInput = { [T in InputType]: z.infer<(typeof inputSchemas)[T]> }[InputType];
export type InputOf<T extends InputType> = z.infer<(typeof inputSchemas)[T]>;

/** Undefined for a blank line. */
export function readInput(read: LineRead): Result<RunnerInput, BadLine> | undefined {
  const object = readObject(read);
  if (!object) return undefined;
  if (!object.ok) return object;
  const type = own(object.value, "type");
  if (typeof type !== "string") return failed({ code: "bad_message", message: "The line has no type." });
  if (!isInputType(type))
    return failed({ code: "unknown_type", message: `There is no input ${JSON.stringify(cut(type))}.` });
  return readFields<RunnerInput>(type, inputSchemas[type], object.value);
}

const isInputType = (type: string): type is InputType => Object.hasOwn(inputSchemas, type);
