/** Edit: exact replacement in a file that was read and has not changed since. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { boundedText, changed } from "./changed.ts";
import { type Edit, planEdits, type TextReplacement } from "./edit-plan.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";
import { watchFile, withNewErrors } from "./new-errors.ts";
import { writeClaims } from "./target.ts";
import { encodeText } from "./text-file.ts";

const input = z.object({
  file_path: z.string().check(z.describe("Path of the file, absolute or relative to the working directory.")),
  old_string: z.string().check(z.describe("The exact text to replace; empty to make a new file.")),
  new_string: z.string().check(z.describe("The text to put in its place.")),
  replace_all: z._default(z.boolean(), false).check(z.describe("Replace every occurrence.")),
});
type EditInput = z.infer<typeof input>;

export const editTool: Tool<EditInput> = defineTool({
  name: "Edit",
  family: "edits",
  description: `Replaces text in a file. Read the file first: the edit is refused if it was not read or has changed since. old_string must match exactly, indentation included and without Read's line numbers, and must occur once; add neighbouring lines to make it unique, or set replace_all. An empty old_string makes a new file.`,
  input: schemaOf(input, toolHeads.Edit.input),
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => {
    const plan = await planEdits(editRequestOf(given), context);
    return plan.ok ? undefined : plan.why;
  },
  run: async function* (given, context, signal): AsyncGenerator<never, ToolOutcome> {
    const plan = await planEdits(editRequestOf(given), context);
    if (!plan.ok) return failure(plan.why);
    const { edit } = plan;
    const { path, after } = edit;
    const watch = await watchFile(
      context,
      { path, before: edit.stamp === null ? null : edit.before },
      signal,
    );
    const bytes = encodeText(after, edit.form);
    const written = await context.workspace.files.write(path, bytes, { stamp: edit.stamp });
    if (!written.ok) return failure(written.why);
    return withNewErrors(done(given, { edit, stamp: written.stamp }), { watch, path, after }, signal);
  },
});

const editRequestOf = ({
  file_path,
  ...edit
}: EditInput): { file_path: string; edits: TextReplacement[] } => ({
  file_path,
  edits: [edit],
});

function done(
  { old_string, new_string, replace_all }: EditInput,
  { edit, stamp }: { edit: Edit; stamp: string },
): ToolOutcome {
  const { path, before, after } = edit;
  return changed({
    path,
    before,
    after,
    stamp,
    said: whatWasDone(edit),
    data: (hunks) => ({
      filePath: path,
      oldString: old_string,
      newString: new_string,
      originalFile: boundedText(before),
      structuredPatch: hunks,
      userModified: false,
      replaceAll: replace_all,
    }),
  });
}

export function whatWasDone({ path, places, stamp }: Edit): string {
  if (stamp === null) return `Made ${path}`;
  return `Edited ${path}${places > 1 ? ` in ${places} places` : ""}`;
}
