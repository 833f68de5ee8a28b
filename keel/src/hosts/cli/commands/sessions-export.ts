/** `keel sessions export ID`: the log itself, a Markdown page, or one HTML page that needs nothing else. */

import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { openHome } from "../../../app/home.ts";
import type { Sessions } from "../../../app/sessions/sessions.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { documentOf } from "../../../view/document.ts";
import { oneOf, usage } from "../arguments.ts";
import type { Context } from "../context.ts";
import { onlyOne } from "./only-one.ts";

const formats = ["jsonl", "md", "html"] as const;
type ExportFormat = (typeof formats)[number];

type ExportArguments = {
  readonly values: { readonly format: string | undefined; readonly output: string | undefined };
  readonly positionals: readonly string[];
};

export async function exportSession(
  { values, positionals }: ExportArguments,
  context: Context,
): Promise<number> {
  const id = onlyOne(positionals, "the id of a session");
  const format = oneOf("format", values.format, formats) ?? "jsonl";
  const parts = exported(openHome(context).sessions, { id, format, context });
  if (values.output === undefined) await toStandardOutput(parts, context);
  else await writeWhole(values.output, parts, context.cwd);
  return exitCodes.ended;
}

async function* exported(
  sessions: Sessions,
  { id, format, context }: { id: string; format: ExportFormat; context: Context },
): AsyncGenerator<string | Uint8Array> {
  const tell = ({ text }: { text: string }) => context.err.line(`keel: ${text}`);
  if (format === "jsonl") return yield* sessions.exportLines(id, tell);
  const document = documentOf(await Array.fromAsync(sessions.read(id, tell)));
  if (format === "md") return yield (await import("../../../view/markdown.ts")).toMarkdown(document);
  yield (await import("../../../view/html.ts")).toHtml(document);
}

/** What a slow reader has not taken yet stays in the log until then. */
const maxWaitingBytes = 1024 * 1024;

async function toStandardOutput(parts: AsyncIterable<string | Uint8Array>, { out }: Context): Promise<void> {
  for await (const part of parts) {
    out.write(typeof part === "string" ? part : Buffer.from(part).toString("utf8"));
    if (out.waitingBytes > maxWaitingBytes) await out.drained();
    if (out.isClosed) return;
  }
}

/** Writes a file that is there whole or not at all: beside its place first, then under its name. */

/** A session may hold anything that its person has seen: the file is for them alone. */
const PRIVATE = 0o600;

/** Throws `usage` when the place cannot be written, and whatever the parts throw; nothing is then left behind. */
export async function writeWhole(
  given: string,
  parts: AsyncIterable<string | Uint8Array>,
  cwd: string,
): Promise<void> {
  const file = path.resolve(cwd, given);
  const draft = `${file}.keel-${process.pid}`;
  const handle = await open(draft, "wx", PRIVATE).catch(cannotWrite(file));
  try {
    await fill(handle, parts);
    await rename(draft, file).catch(cannotWrite(file));
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
}

async function fill(handle: FileHandle, parts: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    for await (const part of parts) await handle.writeFile(part);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

const cannotWrite =
  (file: string) =>
  (thrown: unknown): never => {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
    throw usage(`${file} cannot be written (${why}).`);
  };
