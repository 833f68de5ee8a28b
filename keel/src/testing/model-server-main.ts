/**
 * Model servers as commands: one that follows a script, one that plays a cassette, and one that records a cassette while
 * it passes requests on. Each serves until SIGTERM, SIGINT or the end of standard input.
 */
import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Fault, fault, reasonOf } from "../kernel/fault.ts";
import { toLine } from "../kernel/json.ts";
import { sayIssues } from "../kernel/schema.ts";
import { isPipe } from "../transport/node/input.ts";
import { startRecordingProxy, startReplayServer } from "./cassette-server.ts";
import { startModelServer } from "./model-server.ts";
import type { Script } from "./script.ts";
import { fillPlaceholders, parseScript } from "./script-file.ts";

export type RunModelServerOptions = {
  readonly scriptFile: string;
  readonly port?: number | undefined;
  /** Each request that comes is added here as a line of JSON, before it is answered. */
  readonly requestsFile?: string | undefined;
  /** Where the line with port and address goes. */
  readonly write: (text: string) => void;
};

/** Throws the fault `usage` when the script cannot be read or the port cannot be had. */
export async function runModelServer(options: RunModelServerOptions): Promise<void> {
  const script = await readScript(options.scriptFile);
  const { requestsFile } = options;
  await serveUntilEnd(options, () =>
    startModelServer({
      script,
      port: options.port,
      // Only the test that reads the file wants the requests; here they would only fill memory.
      maxRequests: 0,
      onRequest:
        requestsFile === undefined ? undefined : (seen) => appendFileSync(requestsFile, `${toLine(seen)}\n`),
    }),
  );
}

export type RunReplayOptions = Pick<RunModelServerOptions, "port" | "write"> & {
  readonly cassetteFile: string;
};

/** Throws `usage` as above, and `not_recorded` at the end when something was asked that the cassette does not hold. */
export async function runReplayServer({ cassetteFile, ...options }: RunReplayOptions): Promise<void> {
  const { replay } = await serveUntilEnd(options, () =>
    startReplayServer({ file: cassetteFile, port: options.port }),
  );
  replay.check();
}

export type RunRecorderOptions = RunReplayOptions & {
  /** Where requests go, such as `https://api.anthropic.com`. */
  readonly upstream: string;
};

/** The cassette is made anew. Throws `usage` as above, and for an upstream that is no address. */
export async function runRecordingProxy({
  cassetteFile,
  upstream,
  ...options
}: RunRecorderOptions): Promise<void> {
  if (!/^https?:$/.test(URL.parse(upstream)?.protocol ?? ""))
    throw fault("usage", { reason: "The upstream is not an http or https address." });
  await serveUntilEnd(options, () =>
    startRecordingProxy({ upstream, file: cassetteFile, port: options.port }),
  );
}

type Served = { readonly url: string; readonly port: number; close(): Promise<void> };

/** Says where it serves, waits for the end, and closes every connection. */
async function serveUntilEnd<S extends Served>(
  { write }: Pick<RunModelServerOptions, "write">,
  start: () => Promise<S>,
): Promise<S> {
  const server = await start().catch((cause: unknown) => {
    if (cause instanceof Fault) throw cause;
    throw fault("usage", { reason: `The server cannot listen: ${reasonOf(cause)}`, cause });
  });
  const ended = untilEnd();
  write(`${toLine({ port: server.port, url: server.url })}\n`);
  await ended;
  await server.close();
  return server;
}

/** The script of a file; `{{cwd}}` in it is the folder in which the server was started. */
async function readScript(file: string): Promise<Script> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw fault("usage", { reason: `The script ${file} cannot be read: ${reasonOf(cause)}`, cause });
  });
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (cause) {
    throw fault("usage", { reason: `The script ${file} is not JSON: ${reasonOf(cause)}`, cause });
  }
  const parsed = parseScript(written);
  if (!parsed.ok)
    throw fault("usage", { reason: `The script ${file} is not valid: ${sayIssues(parsed.error)}` });
  return fillPlaceholders(parsed.value, { cwd: process.cwd() });
}

function untilEnd(): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      process.off("SIGTERM", end);
      process.off("SIGINT", end);
      process.stdin.off("end", end).off("close", end).pause();
      resolve();
    };
    process.once("SIGTERM", end);
    process.once("SIGINT", end);
    // A server that is put into the background reads from /dev/null, whose end means nothing.
    if (!isPipe(process.stdin.fd)) return;
    // The one who started the server holds the other end: when that goes, the server is of no use any more.
    process.stdin.once("end", end).once("close", end).resume();
  });
}
