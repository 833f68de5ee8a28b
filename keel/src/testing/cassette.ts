/**
 * Recorded exchanges with a model server, as a file: one exchange a line, without secrets, made to be committed beside
 * a test. `cassette-record.ts` writes it, `cassette-replay.ts` serves it again.
 */
import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { fault, reasonOf } from "../kernel/fault.ts";
import { parseWith, sayIssues } from "../kernel/schema.ts";
import { jsonSchema } from "../protocol/message.ts";

const exchangeSchema = z.object({
  /** The version of the format. */
  cassette: z.literal(1),
  request: z.object({
    method: z.string(),
    /** Without host and query: both may hold what belongs to one person only. */
    path: z.string(),
    /** Null when there was none; a text when it was not JSON. */
    body: jsonSchema,
  }),
  response: z.object({
    status: z.number(),
    /** Only those that change what an adapter does. */
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    /** `base64` for a body that is no text. */
    encoding: z.enum(["utf8", "base64"]),
    /** Whether the body came to its end or broke off. When its parts came is not kept. */
    ended: z.enum(["whole", "cut"]),
  }),
});
export type RecordedExchange = z.infer<typeof exchangeSchema>;

/** The headers of an answer that are kept: none of them tells who asked. */
const recordedHeaders = [
  "content-type",
  "content-encoding",
  "retry-after",
  "retry-after-ms",
  "request-id",
  "x-request-id",
] as const;

export const recordedIn = (answer: { header(name: string): string | undefined }): Record<string, string> =>
  Object.fromEntries(
    recordedHeaders.flatMap((name) => {
      const value = answer.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Throws `usage` when the file cannot be read or is none of ours. */
export async function readCassette(file: string): Promise<RecordedExchange[]> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw fault("usage", { reason: `The cassette ${file} cannot be read: ${reasonOf(cause)}`, cause });
  });
  return text
    .split("\n")
    .flatMap((line, index) => (line.trim() === "" ? [] : [exchangeIn(line, `${file}:${index + 1}`)]));
}

function exchangeIn(line: string, place: string): RecordedExchange {
  let written: unknown;
  try {
    written = JSON.parse(line);
  } catch (cause) {
    throw fault("usage", { reason: `${place} is not JSON: ${reasonOf(cause)}`, cause });
  }
  const parsed = parseWith(exchangeSchema, written);
  if (!parsed.ok)
    throw fault("usage", { reason: `${place} is no recorded exchange: ${sayIssues(parsed.error)}` });
  return parsed.value;
}
