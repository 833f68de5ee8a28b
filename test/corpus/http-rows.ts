// Rows of the corpus of requests and sockets, as they are sent to a server of sessions: its example paths become ours.
import { readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod/mini";

const opt = z.optional;
const frameSchema = z.object({
  text: opt(z.string()),
  binaryB64: opt(z.string()),
  rawTextB64: opt(z.string()),
  gen: opt(
    z.object({
      repeat: opt(z.string()),
      count: opt(z.number()),
      frames: opt(z.number()),
      text: opt(z.string()),
    }),
  ),
});

const rowSchema = z.object({
  id: z.string(),
  class: z.string(),
  transport: z.enum(["http", "ws", "render", "terminal"]),
  why: z.string(),
  method: opt(z.string()),
  path: opt(z.string()),
  headers: opt(z.record(z.string(), z.union([z.string(), z.array(z.string())]))),
  body: opt(z.nullable(z.string())),
  gen: opt(
    z.object({
      repeat: opt(z.string()),
      count: opt(z.number()),
      wrap: opt(z.array(z.string())),
      gzipBomb: opt(z.number()),
    }),
  ),
  frames: opt(z.array(frameSchema)),
  payload: opt(z.string()),
  expect: z.object({
    status: opt(z.array(z.number())),
    sideEffect: opt(z.boolean()),
    upgraded: opt(z.boolean()),
    urlTokenRemoved: opt(z.boolean()),
    cookie: opt(z.string()),
    hasHeader: opt(z.record(z.string(), z.string())),
    noHeader: opt(z.array(z.string())),
    connect: opt(z.string()),
    close: opt(z.array(z.number())),
    error: opt(z.string()),
    open: opt(z.boolean()),
    rateLimited: opt(z.boolean()),
    agentBlocked: opt(z.boolean()),
    serverAlive: opt(z.boolean()),
  }),
  expandRoutes: opt(z.boolean()),
  delivery: opt(z.string()),
  target: opt(z.string()),
  startArgs: opt(z.array(z.string())),
  stopReading: opt(z.boolean()),
  maxRssGrowthMb: opt(z.number()),
});
export type HttpRow = z.infer<typeof rowSchema>;

export const readHttpRows = (): HttpRow[] =>
  readFileSync(path.resolve(import.meta.dirname, "../corpora/http-public.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => rowSchema.parse(JSON.parse(line)));

/** What the placeholders of a row stand for. */
export type RowFills = Readonly<Record<string, string>>;

export const fillIn = (text: string, fills: RowFills): string =>
  text.replaceAll(/\{([A-Z_]+)\}/g, (whole, name: string) => fills[name] ?? whole);

/** Where our server has what a row means by its path. */
export function ourPath(row: HttpRow): string {
  const given = row.path ?? "/";
  // The corpus calls the code of a link that is good once a token.
  if (given.startsWith("/?token=")) return "/?token={START_CODE}";
  if (row.transport === "ws")
    // One socket for everything: frames name the session. A path that is none stays as it is.
    return given.replace(/^\/ws\/(?:sessions\/\{SID\}|pty\/\{PTY\})(?=\?|$)/, "/ws");
  return given.replace(/^\/api\/files(?=\?)/, "/api/workers/{WORKER}/diff/file");
}
