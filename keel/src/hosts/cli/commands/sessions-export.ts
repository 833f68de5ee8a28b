/** `keel sessions export ID`: the log itself, a Markdown page, or one HTML page that needs nothing else. */
import { type Sessions, storedSessions } from "../../../app/sessions/sessions.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { documentOf } from "../../../view/document.ts";
import { oneOf } from "../arguments.ts";
import type { Context } from "../context.ts";
import { onlyOne } from "./only-one.ts";
import { writeWhole } from "./write-whole.ts";

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
  const parts = exported(storedSessions(context), { id, format, context });
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
