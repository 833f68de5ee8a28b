/** Edit and MultiEdit: exact replacement in a file that was read and has not changed since; several at once, or none. */
import * as z from "zod/mini";
import { builtInTool, pathField, textField } from "./built-in.ts";
import { whyNot } from "./change-file.ts";
import { makeEdits, planEdits, previewEdits } from "./edit-plan.ts";
import { writeClaims } from "./target.ts";

const replacement = {
  old_string: textField("The exact text to replace."),
  new_string: textField("The replacement."),
  replace_all: z._default(z.boolean(), false).check(z.describe("Replace every occurrence.")),
};

export const editTool = builtInTool({
  name: "Edit",
  family: "edits",
  description: `Replaces exact text in a file. Read the file first: the edit is refused if it was not read or has changed since. old_string must match exactly, including indentation and without Read's line numbers, and must be unique in the file: add surrounding lines, or set replace_all. An empty old_string creates a new file.`,
  input: z.object({
    file_path: pathField,
    ...replacement,
    old_string: textField("The exact text to replace; empty to create a file."),
  }),
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async ({ file_path, ...edit }, context) =>
    whyNot(await planEdits({ file_path, edits: [edit] }, context)),
  preview: ({ file_path, ...edit }, context) => previewEdits({ file_path, edits: [edit] }, context),
  run: async function* ({ file_path, ...edit }, context, signal) {
    const { old_string: oldString, new_string: newString, replace_all: replaceAll } = edit;
    return makeEdits({ file_path, edits: [edit] }, context, {
      signal,
      data: ({ filePath, ...rest }) => ({ filePath, oldString, newString, ...rest, replaceAll }),
    });
  },
});

const maxEdits = 200;

export const multiEditTool = builtInTool({
  name: "MultiEdit",
  family: "edits",
  description: `Makes several edits to one file, all or none. Each follows the rules of Edit.`,
  input: z.object({
    file_path: pathField,
    edits: z
      .array(z.object(replacement))
      .check(
        z.minLength(1),
        z.maxLength(maxEdits),
        z.describe("The edits, applied in order, each to the result of the one before."),
      ),
  }),
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => whyNot(await planEdits(given, context)),
  preview: (given, context) => previewEdits(given, context),
  run: async function* (given, context, signal) {
    return makeEdits(given, context, {
      signal,
      data: ({ filePath, ...rest }) => ({ filePath, edits: given.edits, ...rest }),
    });
  },
});
