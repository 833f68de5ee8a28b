/** Lines of host programs, one JSON object each: what can be wrong with one, and the words that it is answered with. */
import type * as z from "zod/mini";
import type { Fault } from "../../kernel/fault.ts";
import { type JsonObject, mapTexts } from "../../kernel/json.ts";
import { failed, ok, type Result } from "../../kernel/result.ts";
import { schemaOf } from "../../kernel/schema.ts";
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

export type BadLine = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly id?: string | undefined;
};

/** Undefined for a blank line. */
export function readObject(read: LineRead): Result<JsonObject, BadLine> | undefined {
  if (!read.ok) return failed(badLine(read.fault));
  // Only what JSON itself counts as white space: any other sign that nobody sees is a fault of the host.
  if (/^[ \t\r]*$/.test(read.line)) return undefined;
  const parsed = parseJsonLine(read.line);
  return parsed.ok ? parsed : failed(badLine(parsed.error));
}

/** Whatever the line holds, at most a little of it stands in the message. */
export function readFields<T>(
  name: string,
  schema: z.ZodMiniType<T> & { readonly shape: object },
  object: JsonObject,
): Result<T, BadLine> {
  // A half of a character cannot be sent as UTF-8: it is replaced here, before anything keeps it.
  const parsed = schema.safeParse(mapTexts(object, (text) => text.toWellFormed()));
  if (parsed.success) return ok(parsed.data);
  const issue = firstIssue(parsed.error.issues, Object.keys(schema.shape));
  const field = issue?.path.join(".") || "content";
  return failed({ code: "bad_field", message: `${name}: ${cut(field)}: ${cut(issue?.message ?? "wrong")}` });
}

/** Of several faults the one whose field the form names first: the same line is always answered in the same words. */
function firstIssue(issues: readonly z.core.$ZodIssue[], fields: readonly string[]) {
  const rank = ({ path }: z.core.$ZodIssue): number => {
    const at = fields.indexOf(String(path[0]));
    return at < 0 ? fields.length : at;
  };
  return issues.toSorted((one, other) => rank(one) - rank(other))[0];
}

function badLine({ code, message, detail: { kind } }: Fault): BadLine {
  if (code === "line_too_long") return { code: "too_large", message };
  const bad = kind === "utf8" ? "bad_utf8" : kind === "json" || kind === "depth" ? "bad_json" : "bad_message";
  return { code: bad, message: cut(message) };
}

/** What a fault of the session is called on the wire. */
const complaintCodes: Partial<Record<Fault["code"], ErrorCode>> = {
  mode_refused: "forbidden",
  queue_full: "queue_full",
  session_closed: "closed",
  checkpoint_unknown: "unknown_id",
  session_unknown: "unknown_id",
  session_invalid_id: "unknown_id",
};

export const complaintOf = ({ code, message }: Fault): Pick<BadLine, "code" | "message"> => ({
  code: complaintCodes[code] ?? "failed",
  message: message.slice(0, 500),
});

/** The forms of all lines as one JSON Schema document, for hosts that generate or check their code. */
export function linesSchema(
  title: string,
  groups: Readonly<Record<string, Iterable<readonly [string, z.ZodMiniType]>>>,
): JsonObject {
  const forms = Object.entries(groups).map(([group, all]) => [
    group,
    Object.fromEntries(Array.from(all, ([name, schema]) => [name, schemaOf(schema).json])),
  ]);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title, ...Object.fromEntries(forms) };
}

export const cut = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
