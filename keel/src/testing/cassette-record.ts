/**
 * Records exchanges at the level of HTTP, so that whichever adapter asks can be recorded: hand `send` to it in place of
 * its own. Only what came to its end is kept, or broke off by itself; what the reader left is not.
 */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault, reasonOf, toFault } from "../kernel/fault.ts";
import { type Json, parseJson, toLine } from "../kernel/json.ts";
import { parseWith, sayIssues } from "../kernel/schema.ts";
import { fingerprint } from "../kernel/text.ts";
import type { Http, HttpRequest, HttpResponse } from "../models/http.ts";
import { jsonSchema } from "../protocol/message.ts";
import { minSecret, scrubber, secretsIn } from "./cassette-scrub.ts";

/** One exchange: a line of a file without secrets, made to be committed beside a test. */
const exchangeSchema = z.object({
  /** The version of the format. Lines of the first have no sum. */
  cassette: z.union([z.literal(1), z.literal(2)]),
  /** Of what follows it in the line, as it is written. */
  sum: z.optional(z.string()),
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
  if (parsed.value.cassette === 2 && !hasSum(line))
    throw fault("usage", { reason: `${place} was changed after it was recorded. Record it again.` });
  return parsed.value;
}

/** What a test stands on is what a server said: a line that was changed, by a disk or by hand, is none. */
function lineOf({ cassette, ...rest }: RecordedExchange): string {
  const behind = toLine(rest).slice(1);
  return `{"cassette":${cassette},"sum":"${fingerprint(behind)}",${behind}`;
}

function hasSum(line: string): boolean {
  const [, sum, behind = ""] = /^\{"cassette":2,"sum":"(\w+)",(.*)$/.exec(line) ?? [];
  return sum === fingerprint(behind);
}

export type RecorderOptions = {
  readonly http: Http;
  /** Made anew, with its folder. */
  readonly file: string;
  /** Besides the keys that requests carry: what must not be in the file, wherever it stands. */
  readonly secrets?: readonly string[] | undefined;
};

/** Throws `usage` when the file cannot be written. */
export async function openRecorder({ http, file, secrets = [] }: RecorderOptions): Promise<Http> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "");
  } catch (cause) {
    throw fault("usage", {
      reason: `The cassette ${file} cannot be written: ${toFault(cause).message}`,
      cause,
    });
  }
  return async (request, signal) => {
    const response = await http(request, signal);
    const known = [...secrets, ...secretsIn(request.headers)];
    const keep = (bytes: Uint8Array, ended: "whole" | "cut") =>
      appendFile(file, `${lineOf(checked(exchangeOf({ request, response, bytes, ended, known }), known))}\n`);
    return { ...response, header: (name) => response.header(name), body: recordBody(response.body, keep) };
  };
}

async function* recordBody(
  body: AsyncIterable<Uint8Array>,
  keep: (bytes: Uint8Array, ended: "whole" | "cut") => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      yield chunk;
    }
  } catch (thrown) {
    if (toFault(thrown).code === "stream_cut") await keep(Buffer.concat(chunks), "cut");
    throw thrown;
  }
  await keep(Buffer.concat(chunks), "whole");
}

type Exchanged = {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly bytes: Uint8Array;
  readonly ended: "whole" | "cut";
  readonly known: readonly string[];
};

function exchangeOf({ request, response, bytes, ended, known }: Exchanged): RecordedExchange {
  const scrub = scrubber(known);
  const headers = Object.fromEntries(
    Object.entries(recordedIn(response)).map(([name, value]) => [name, scrub.text(value)]),
  );
  const text = textIn(bytes);
  const answer =
    text === undefined
      ? ({ body: Buffer.from(bytes).toString("base64"), encoding: "base64" } as const)
      : ({ body: scrub.answer(text, headers["content-type"] ?? ""), encoding: "utf8" } as const);
  return {
    cassette: 2,
    request: {
      method: request.method,
      path: scrub.text(new URL(request.url).pathname),
      body: scrub.json(bodyOf(request)),
    },
    response: { status: response.status, headers, ...answer, ended },
  };
}

/** The body of a request as it is recorded and matched. */
export function bodyOf({ body }: Pick<HttpRequest, "body">): Json {
  if (body === undefined) return null;
  const text = typeof body === "string" ? body : Buffer.concat([body].flat()).toString("utf8");
  const json = parseJson(text);
  return json === undefined ? text : json;
}

/** The last look: whatever went wrong above, a known secret is not written. */
function checked(exchange: RecordedExchange, known: readonly string[]): RecordedExchange {
  const line = toLine(exchange);
  const forms = known
    .filter(({ length }) => length >= minSecret)
    .flatMap((secret) => [secret, ...encoded(secret)]);
  if (!forms.some((form) => line.includes(form))) return exchange;
  throw fault("unexpected", { reason: "a recorded exchange would hold a secret; it was not written." });
}

/** Of shorter ones too little is left to tell them from chance. */
const minEncoded = 16;

/** As base64 writes it, without its end, which depends on what follows. */
const encoded = (secret: string): string[] =>
  secret.length < minEncoded
    ? []
    : [
        Buffer.from(secret)
          .toString("base64")
          .replace(/.{0,3}={0,2}$/, ""),
      ];

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Compressed, or something else that is no text: kept as it is.
    return undefined;
  }
}
