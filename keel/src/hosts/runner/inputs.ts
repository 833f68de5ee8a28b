/** What a host application may send, one JSON object a line: each input's form, and what a wrong line is answered with. */
import * as z from "zod/mini";
import type { Fault } from "../../kernel/fault.ts";
import { type JsonObject, mapTexts, own } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { inquireFields } from "../../protocol/inquiry.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { permissionModeSchema } from "../../protocol/settings.ts";
import type { LineRead } from "../../transport/lines.ts";
import { parseJsonLine } from "../../transport/strict-json.ts";

/** One code for each class of what can be wrong; they do not change. */
export const errorCodes = [
  "bad_json",
  "bad_utf8",
  "bad_message",
  "unknown_type",
  "bad_field",
  "too_large",
  "forbidden",
  "unknown_id",
  "duplicate_id",
  "closed",
  "queue_full",
  "failed",
  "fatal",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

const words = z.string().check(z.minLength(1));
/** It is sent to a provider and shown on screens: longer, or of several lines, it names no model. */
const modelName = z.string().check(z.minLength(1), z.maxLength(256), z.regex(/^[^\p{Cc}\u2028\u2029]*$/u));
/** Ids of inputs are UUIDs, as everywhere: a checkpoint is named by one. */
const uuid = z.string().check(z.regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i));
/** Given back with the answer, so that a host can tell answers apart. */
const named = { id: z.optional(words) };
const base64 = z.string().check(
  z.minLength(4),
  z.refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text), "is not base64"),
);
const imageTypes = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]);

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

export type BadLine = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly id?: string | undefined;
};

/** Undefined for a blank line. Whatever the line holds, at most a little of it stands in the message. */
export function readInput(read: LineRead): Result<RunnerInput, BadLine> | undefined {
  const object = readObject(read);
  if (!object) return undefined;
  if (!object.ok) return object;
  const type = own(object.value, "type");
  if (typeof type !== "string") return failed({ code: "bad_message", message: "The line has no type." });
  if (!isInputType(type))
    return failed({ code: "unknown_type", message: `There is no input ${JSON.stringify(cut(type))}.` });
  // A half of a character cannot be sent as UTF-8: it is replaced here, before anything keeps it.
  const parsed = inputSchemas[type].safeParse(mapTexts(object.value, (text) => text.toWellFormed()));
  if (parsed.success) return ok(parsed.data);
  const issue = firstIssue(parsed.error.issues, Object.keys(inputSchemas[type].shape));
  const field = issue?.path.join(".") || "content";
  return failed({ code: "bad_field", message: `${type}: ${cut(field)}: ${cut(issue?.message ?? "wrong")}` });
}

/** Of several faults the one whose field the form names first: the same line is always answered in the same words. */
function firstIssue(issues: readonly z.core.$ZodIssue[], fields: readonly string[]) {
  const rank = ({ path }: z.core.$ZodIssue): number => {
    const at = fields.indexOf(String(path[0]));
    return at < 0 ? fields.length : at;
  };
  return issues.toSorted((one, other) => rank(one) - rank(other))[0];
}

/** Undefined for a blank line. */
export function readObject(read: LineRead): Result<JsonObject, BadLine> | undefined {
  if (!read.ok) return failed(badLine(read.fault));
  // Only what JSON itself counts as white space: any other sign that nobody sees is a fault of the host.
  if (/^[ \t\r]*$/.test(read.line)) return undefined;
  const parsed = parseJsonLine(read.line);
  return parsed.ok ? parsed : failed(badLine(parsed.error));
}

function badLine({ code, message, detail: { kind } }: Fault): BadLine {
  if (code === "line_too_long") return { code: "too_large", message };
  const bad = kind === "utf8" ? "bad_utf8" : kind === "json" || kind === "depth" ? "bad_json" : "bad_message";
  return { code: bad, message: cut(message) };
}

const isInputType = (type: string): type is InputType => Object.hasOwn(inputSchemas, type);

const cut = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
