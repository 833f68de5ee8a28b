/** What a desktop shell may ask for, one JSON object a line: the form of each request, and what a wrong one is answered with. */
import * as z from "zod/mini";
import { base64, imageTypes } from "../../app/lines/pictures.ts";
import { type BadLine, cut, readFields, readObject } from "../../app/lines/read-line.ts";
import { type JsonObject, own, parseJson } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { jsonSchema } from "../../protocol/message.ts";
import type { LineRead } from "../../transport/lines.ts";

/** Far more than any id of a host, and little enough to be given back on every line. */
const maxIdCharacters = 256;
const name = z.string().check(z.minLength(1), z.maxLength(maxIdCharacters));
/** Shells written in Rust send what is left out as null. */
const maybe = z.nullish;
/** A day: beyond it a limit is none. */
const timeLimit = z.int().check(z.minimum(1), z.maximum(86_400_000));

const image = z.object({ data: base64, mime_type: imageTypes });
const images = z.array(image);
export type SentImage = z.infer<typeof image>;

const request = <Kind extends string, Fields extends z.core.$ZodLooseShape>(kind: Kind, fields: Fields) =>
  z.object({
    /** Stands on every response to it. */
    id: name,
    kind: z.literal(kind),
    ...fields,
    /** How long it may take; each kind has its own limit when left out. */
    timeout_ms: maybe(timeLimit),
  });

const answerText = z.union([z.string(), z.array(z.string())]);

export const requestSchemas = {
  user_message: request("user_message", {
    message: z.string(),
    /** The one that was made or loaded last when left out; a new one where there is none. */
    conversation_id: maybe(name),
    /** A list of pictures, or the JSON text of one. */
    images: maybe(z.union([z.string(), images])),
  }),
  clear_history: request("clear_history", { conversation_id: maybe(name) }),
  new_conversation: request("new_conversation", {}),
  load_conversation: request("load_conversation", { conversation_id: name }),
  list_conversations: request("list_conversations", {
    limit: maybe(z.int().check(z.minimum(1), z.maximum(100_000))),
  }),
  delete_conversation: request("delete_conversation", { conversation_id: name }),
  interrupt: request("interrupt", { conversation_id: maybe(name) }),
  get_status: request("get_status", { conversation_id: maybe(name) }),
  answer_ask: request("answer_ask", {
    ask_id: z.string().check(z.minLength(1)),
    approved: z.boolean(),
    /** One of the options of the question, such as the one that is remembered. */
    option: maybe(name),
    /** Words for the model. */
    reason: maybe(z.string()),
    /** A changed input; it is decided again. */
    input: maybe(jsonSchema),
    /** What the person answered, by the words of each question. */
    answers: maybe(z.record(z.string(), answerText)),
    /** What a server's own question is answered with. */
    data: maybe(jsonSchema),
  }),
} as const;

export type RequestKind = keyof typeof requestSchemas;
type SentRequests = { [K in RequestKind]: z.infer<(typeof requestSchemas)[K]> };
/** With its pictures as a list, whichever way they came. */
export type DesktopRequest = {
  [K in RequestKind]: K extends "user_message"
    ? Omit<SentRequests[K], "images"> & { readonly images: readonly SentImage[] }
    : SentRequests[K];
}[RequestKind];
export type RequestOf<K extends RequestKind> = Extract<DesktopRequest, { kind: K }>;

/** Undefined for a blank line. An error has the id of its request wherever that can be read. */
export function readRequest(read: LineRead): Result<DesktopRequest, BadLine> | undefined {
  const object = readObject(read);
  if (!object) return undefined;
  if (!object.ok) return object;
  const found = readKind(object.value);
  return found.ok ? found : failed({ ...found.error, id: readableId(object.value) });
}

function readKind(object: JsonObject): Result<DesktopRequest, BadLine> {
  const kind = own(object, "kind");
  if (typeof kind !== "string") return failed({ code: "bad_message", message: "The line has no kind." });
  if (!isKind(kind))
    return failed({ code: "unknown_type", message: `There is no request ${JSON.stringify(cut(kind))}.` });
  const fields = readFields<SentRequests[RequestKind]>(kind, requestSchemas[kind], object);
  if (!fields.ok) return fields;
  const sent = fields.value;
  if (sent.kind !== "user_message") return ok(sent);
  const pictures = readImages(sent.images ?? []);
  if (!pictures.ok) return failed({ code: "bad_field", message: `user_message: images: ${pictures.error}` });
  if (sent.message.trim() === "" && pictures.value.length === 0)
    return failed({ code: "bad_field", message: "user_message: message: is empty" });
  return ok({ ...sent, images: pictures.value });
}

function readImages(given: string | readonly SentImage[]): Result<readonly SentImage[]> {
  if (typeof given !== "string") return ok(given);
  if (given.trim() === "") return ok([]);
  const parsed = images.safeParse(parseJson(given));
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return failed(cut(`${issue?.path.join(".") || "the text"}: ${issue?.message ?? "wrong"}`));
}

const readableId = (object: JsonObject): string | undefined => {
  const id = own(object, "id");
  return typeof id === "string" && id !== "" && id.length <= maxIdCharacters ? id.toWellFormed() : undefined;
};

const isKind = (kind: string): kind is RequestKind => Object.hasOwn(requestSchemas, kind);
