/** The model server as a command: `keel model-server --script FILE [--port N] [--requests FILE]`. */
import { appendFileSync, fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fault } from "../kernel/fault.ts";
import { toLine } from "../kernel/json.ts";
import { sayIssues } from "../kernel/schema.ts";
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

/**
 * Serves until SIGTERM, SIGINT or the end of standard input, then closes every connection and returns. Throws the
 * fault `usage` when the script cannot be read or the port cannot be had.
 */
export async function runModelServer(options: RunModelServerOptions): Promise<void> {
  const script = await readScript(options.scriptFile);
  const { requestsFile } = options;
  const server = await startModelServer({
    script,
    port: options.port,
    // Its clients are not ours alone, and nobody here knows their logs.
    law: "none",
    // Only the test that reads the file wants the requests; here they would only fill memory.
    mostRequests: 0,
    onRequest:
      requestsFile === undefined ? undefined : (seen) => appendFileSync(requestsFile, `${toLine(seen)}\n`),
  }).catch((cause: unknown) => {
    throw fault("usage", { reason: `The server cannot listen: ${wordsOf(cause)}`, cause });
  });
  const ended = untilEnd();
  options.write(`${toLine({ port: server.port, url: server.url })}\n`);
  await ended;
  await server.close();
}

/** The script of a file; `{{cwd}}` in it is the folder in which the server was started. */
async function readScript(file: string): Promise<Script> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw fault("usage", { reason: `The script ${file} cannot be read: ${wordsOf(cause)}`, cause });
  });
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (cause) {
    throw fault("usage", { reason: `The script ${file} is not JSON: ${wordsOf(cause)}`, cause });
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
    if (!isPipe(process.stdin.fd)) return;
    // The one who started the server holds the other end: when that goes, the server is of no use any more.
    process.stdin.once("end", end).once("close", end).resume();
  });
}

/** A server that is put into the background reads from /dev/null, whose end means nothing. */
function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    // No standard input at all: nobody can close it.
    return false;
  }
}

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
