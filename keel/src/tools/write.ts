/** Write: a whole file, new or in place of one that was read and has not changed since. */
import * as z from "zod/mini";
import { no, type Refused } from "../kernel/result.ts";
import type { ToolContext } from "../ports/tool.ts";
import { builtInTool, failure, pathField, textField } from "./built-in.ts";
import {
  boundedText,
  changeFile,
  type FileRewrite,
  findExisting,
  maxFileBytes,
  previewOf,
  whyNot,
} from "./change-file.ts";
import { lineEnd } from "./occurrences.ts";
import { writeClaims } from "./target.ts";
import { plainForm, type TextFile } from "./text-file.ts";

const input = z.object({
  file_path: pathField,
  content: textField("The complete content of the file."),
});
type WriteInput = z.infer<typeof input>;

export const writeTool = builtInTool({
  name: "Write",
  family: "edits",
  description: `Writes a whole file, creating missing directories. An existing file must have been read first and not have changed since; its line endings, encoding and mode are kept. To change part of a file use Edit.`,
  input,
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => whyNot(await planWrite(given, context)),
  preview: async (given, context) => {
    const plan = await planWrite(given, context);
    return plan.ok ? previewOf(plan.change) : undefined;
  },
  run: async function* (given, context, signal) {
    const plan = await planWrite(given, context);
    if (!plan.ok) return failure(plan.why);
    const { change } = plan;
    const { path, before, after } = change;
    const isNew = change.stamp === null;
    const data: FileRewrite["data"] = (hunks) => ({
      type: isNew ? "create" : "update",
      filePath: path,
      content: boundedText(after),
      structuredPatch: isNew ? [] : hunks,
      originalFile: before === undefined ? null : boundedText(before),
      userModified: false,
    });
    return changeFile({ ...change, said: `${isNew ? "Made" : "Wrote"} ${path}`, data }, context, signal);
  },
});

type WritePlan = { readonly ok: true; readonly change: Omit<FileRewrite, "said" | "data"> } | Refused;

async function planWrite({ file_path, content }: WriteInput, context: ToolContext): Promise<WritePlan> {
  if (!content.isWellFormed()) return no("content is not valid text: it holds half of a surrogate pair.");
  if (content.length > maxFileBytes)
    return no(`content is too long: ${content.length} characters of at most ${maxFileBytes}.`);
  const found = await findExisting(file_path, context, "write");
  if (!found.ok) return found;
  const { path, stamp, file } = found.existing;
  const basis = { path, stamp, before: file?.text };
  // What is no text, or broken text, is replaced by plain UTF-8.
  if (!file?.isExact) return { ok: true, change: { ...basis, after: content, form: plainForm } };
  return { ok: true, change: { ...basis, after: withEndsOf(file, content), form: file } };
}

/** The byte order mark is put back by the encoding; line ends are those that the file has. */
function withEndsOf({ text, hasMark }: TextFile, content: string): string {
  const bare = hasMark ? content.replace(/^\ufeff/, "") : content;
  return lineEnd(text) === "\r\n" ? bare.replace(/\r?\n/g, "\r\n") : bare;
}
