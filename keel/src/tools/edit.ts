/** Edit: exact replacement in a file that was read and has not changed since. */
import * as z from "zod/mini";
import { defineTool, type Tool, type ToolOutcome } from "../engine/tools/define.ts";
import { schemaOf } from "../kernel/schema.ts";
import { text } from "../protocol/message.ts";
import { type Edit, planEdit } from "./edit-plan.ts";
import { failure } from "./failure.ts";
import { boundedHunks, countLines, hunksOf } from "./hunks.ts";
import { claimedPath } from "./target.ts";
import { encodeText } from "./text-file.ts";

/** The whole former text is part of the result for programs, but the log must not grow by a large file per edit. */
const mostOriginalCharacters = 256 * 1024;

const input = z.object({
  file_path: z.string().check(z.describe("Path of the file, absolute or relative to the working directory.")),
  old_string: z.string().check(z.describe("The exact text to replace; empty to make a new file.")),
  new_string: z.string().check(z.describe("The text to put in its place.")),
  replace_all: z._default(z.boolean(), false).check(z.describe("Replace every occurrence.")),
});
type Input = z.infer<typeof input>;

export const editTool: Tool<Input> = defineTool({
  name: "Edit",
  description: `Replaces text in a file. Read the file first: the edit is refused if it was not read or has changed since. old_string must match exactly, indentation included and without Read's line numbers, and must occur once; add neighbouring lines to make it unique, or set replace_all. An empty old_string makes a new file.`,
  input: schemaOf(input),
  claims: async ({ file_path }, context) => [
    { action: "write", target: await claimedPath(context, file_path) },
  ],
  check: async (given, context) => {
    const plan = await planEdit(given, context);
    return plan.ok ? undefined : plan.why;
  },
  run: async function* (given, context): AsyncGenerator<never, ToolOutcome> {
    const plan = await planEdit(given, context);
    if (!plan.ok) return failure(plan.why);
    const { edit } = plan;
    const bytes = encodeText(edit.after, edit.form);
    const written = await context.workspace.files.write(edit.path, bytes, { stamp: edit.stamp });
    return written.ok ? done(given, { edit, stamp: written.stamp }) : failure(written.why);
  },
});

function done(
  { old_string, new_string, replace_all }: Input,
  { edit, stamp }: { edit: Edit; stamp: string },
): ToolOutcome {
  const { path, before, after, places } = edit;
  const whole = hunksOf(before, after);
  const { added, removed } = countLines(whole);
  const hunks = boundedHunks(whole);
  const what =
    edit.stamp === null ? `Made ${path}` : `Edited ${path}${places > 1 ? ` in ${places} places` : ""}`;
  return {
    content: [text(`${what} (+${added} -${removed} lines).`)],
    display: { kind: "diff", path, hunks },
    data: {
      filePath: path,
      oldString: old_string,
      newString: new_string,
      originalFile: before.length > mostOriginalCharacters ? null : before,
      structuredPatch: hunks,
      userModified: false,
      replaceAll: replace_all,
    },
    seen: [{ path, stamp }],
    linesAdded: added,
    linesRemoved: removed,
  };
}
