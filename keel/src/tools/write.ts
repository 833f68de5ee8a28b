/** Write: a whole file, new or in place of one that was read and has not changed since. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolContext, ToolOutcome } from "../ports/tool.ts";
import { boundedText, changed } from "./changed.ts";
import { type Existing, findExisting, maxFileBytes } from "./existing-text.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";
import { watchFile, withNewErrors } from "./new-errors.ts";
import { lineEnd } from "./occurrences.ts";
import { writeClaims } from "./target.ts";
import { encodeText, type TextFile } from "./text-file.ts";

const input = z.object({
  file_path: z.string().check(z.describe("Path of the file, absolute or relative to the working directory.")),
  content: z.string().check(z.describe("Everything that the file shall hold.")),
});
type WriteInput = z.infer<typeof input>;

export const writeTool: Tool<WriteInput> = defineTool({
  name: "Write",
  family: "edits",
  description: `Writes a whole file and makes missing directories. A file that exists must have been read first and not have changed since; its line ends, encoding and mode are kept. To change a part of a file use Edit, which needs less text.`,
  input: schemaOf(input, toolHeads.Write.input),
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => {
    const plan = await planWrite(given, context);
    return plan.ok ? undefined : plan.why;
  },
  run: async function* (given, context, signal): AsyncGenerator<never, ToolOutcome> {
    const plan = await planWrite(given, context);
    if (!plan.ok) return failure(plan.why);
    const { existing, after, form } = plan;
    const { path } = existing;
    const basis = { stamp: existing.kind === "missing" ? null : existing.stamp };
    const before = textBefore(existing);
    const watch = await watchFile(context, { path, before: before ?? null }, signal);
    const written = await context.workspace.files.write(path, encodeText(after, form), basis);
    if (!written.ok) return failure(written.why);
    const isNew = existing.kind === "missing";
    const outcome = changed({
      path,
      before: before ?? "",
      after,
      stamp: written.stamp,
      said: isNew ? `Made ${path}` : `Wrote ${path}`,
      data: (hunks) => ({
        type: isNew ? "create" : "update",
        filePath: path,
        content: boundedText(after),
        structuredPatch: isNew ? [] : hunks,
        originalFile: before === undefined ? null : boundedText(before),
      }),
    });
    return withNewErrors(outcome, { watch, path, after }, signal);
  },
});

type WritePlan =
  | {
      readonly ok: true;
      readonly existing: Existing;
      readonly after: string;
      readonly form: Pick<TextFile, "encoding" | "hasMark">;
    }
  | { readonly ok: false; readonly why: string };

async function planWrite({ file_path, content }: WriteInput, context: ToolContext): Promise<WritePlan> {
  if (!content.isWellFormed())
    return { ok: false, why: "content is not valid text: it holds half of a surrogate pair." };
  if (content.length > maxFileBytes)
    return {
      ok: false,
      why: `content is too long: ${content.length} characters of at most ${maxFileBytes}.`,
    };
  const found = await findExisting(file_path, context, "write");
  if (!found.ok) return found;
  const { existing } = found;
  const file = existing.kind === "file" ? existing.file : undefined;
  // What is no text, or broken text, is replaced by plain UTF-8.
  if (!file?.isExact)
    return { ok: true, existing, after: content, form: { encoding: "utf-8", hasMark: false } };
  const form = { encoding: file.encoding, hasMark: file.hasMark };
  return { ok: true, existing, after: withEndsOf(file, content), form };
}

/** The byte order mark is put back by the encoding; line ends are those that the file has. */
function withEndsOf({ text, hasMark }: TextFile, content: string): string {
  const bare = hasMark ? content.replace(/^\ufeff/, "") : content;
  return lineEnd(text) === "\r\n" ? bare.replace(/\r?\n/g, "\r\n") : bare;
}

/** Undefined for a file that was not there, or held no text. */
const textBefore = (existing: Existing): string | undefined =>
  existing.kind === "file" ? existing.file?.text : undefined;
