/** Edit: exact replacement in a file that was read and has not changed since. */
import * as z from "zod/mini";
import { builtInTool, pathField, textField } from "./built-in.ts";
import { whyNot } from "./change-file.ts";
import { type EditRequest, makeEdits, planEdits } from "./edit-plan.ts";
import { writeClaims } from "./target.ts";

const input = z.object({
  file_path: pathField,
  old_string: textField("The exact text to replace; empty to make a new file."),
  new_string: textField("The text to put in its place."),
  replace_all: z._default(z.boolean(), false).check(z.describe("Replace every occurrence.")),
});

export const editTool = builtInTool({
  name: "Edit",
  family: "edits",
  description: `Replaces text in a file. Read the file first: the edit is refused if it was not read or has changed since. old_string must match exactly, indentation included and without Read's line numbers, and must occur once; add neighbouring lines to make it unique, or set replace_all. An empty old_string makes a new file.`,
  input,
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => whyNot(await planEdits(editRequestOf(given), context)),
  run: async function* (given, context, signal) {
    const { old_string: oldString, new_string: newString, replace_all: replaceAll } = given;
    return makeEdits(editRequestOf(given), context, {
      signal,
      data: ({ filePath, ...rest }) => ({ filePath, oldString, newString, ...rest, replaceAll }),
    });
  },
});

const editRequestOf = ({ file_path, ...edit }: z.infer<typeof input>): EditRequest => ({
  file_path,
  edits: [edit],
});
