/**
 * Records exchanges at the level of HTTP, so that whichever adapter asks can be recorded: hand `send` to it in place of
 * its own. Only what came to its end is kept, or broke off by itself; what the reader left is not.
 */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fault, toFault } from "../kernel/fault.ts";
import { type Json, parseJson, toLine } from "../kernel/json.ts";
import type { Http, HttpRequest, HttpResponse } from "../models/http.ts";
import { type RecordedExchange, recordedIn } from "./cassette.ts";
import { minSecret, scrubber, secretsIn } from "./cassette-scrub.ts";

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
      appendFile(file, `${toLine(checked(exchangeOf({ request, response, bytes, ended, known }), known))}\n`);
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
    cassette: 1,
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
