/** MultiEdit: several exact replacements in one file, all of them or none. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { boundedText, changed } from "./changed.ts";
import { whatWasDone } from "./edit.ts";
import { planEdits } from "./edit-plan.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";
import { watchFile, withNewErrors } from "./new-errors.ts";
import { writeClaims } from "./target.ts";
import { encodeText } from "./text-file.ts";

const maxEdits = 200;

const input = z.object({
  file_path: z.string().check(z.describe("Path of the file, absolute or relative to the working directory.")),
  edits: z
    .array(
      z.object({
        old_string: z.string().check(z.describe("The exact text to replace.")),
        new_string: z.string().check(z.describe("The text to put in its place.")),
        replace_all: z._default(z.boolean(), false).check(z.describe("Replace every occurrence.")),
      }),
    )
    .check(
      z.minLength(1),
      z.maxLength(maxEdits),
      z.describe("The replacements, in order; each sees what those before it left."),
    ),
});
type MultiEditInput = z.infer<typeof input>;

export const multiEditTool: Tool<MultiEditInput> = defineTool({
  name: "MultiEdit",
  family: "edits",
  description: `Makes several replacements in one file at once: all of them, or none if one does not fit. Each follows the rules of Edit.`,
  input: schemaOf(input, toolHeads.MultiEdit.input),
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => {
    const plan = await planEdits(given, context);
    return plan.ok ? undefined : plan.why;
  },
  run: async function* (given, context, signal): AsyncGenerator<never, ToolOutcome> {
    const plan = await planEdits(given, context);
    if (!plan.ok) return failure(plan.why);
    const { edit } = plan;
    const { path, before, after } = edit;
    const watch = await watchFile(context, { path, before: edit.stamp === null ? null : before }, signal);
    const bytes = encodeText(after, edit.form);
    const written = await context.workspace.files.write(path, bytes, { stamp: edit.stamp });
    if (!written.ok) return failure(written.why);
    const outcome = changed({
      path,
      before,
      after,
      stamp: written.stamp,
      said: whatWasDone(edit),
      data: (hunks) => ({
        filePath: path,
        edits: given.edits,
        originalFile: boundedText(before),
        structuredPatch: hunks,
        userModified: false,
      }),
    });
    return withNewErrors(outcome, { watch, path, after }, signal);
  },
});
