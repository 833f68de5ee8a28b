/** MultiEdit: several exact replacements in one file, all of them or none. */
import * as z from "zod/mini";
import { builtInTool, pathField, textField } from "./built-in.ts";
import { whyNot } from "./change-file.ts";
import { makeEdits, planEdits } from "./edit-plan.ts";
import { writeClaims } from "./target.ts";

const maxEdits = 200;

const input = z.object({
  file_path: pathField,
  edits: z
    .array(
      z.object({
        old_string: textField("The exact text to replace."),
        new_string: textField("The text to put in its place."),
        replace_all: z._default(z.boolean(), false).check(z.describe("Replace every occurrence.")),
      }),
    )
    .check(
      z.minLength(1),
      z.maxLength(maxEdits),
      z.describe("The replacements, in order; each sees what those before it left."),
    ),
});

export const multiEditTool = builtInTool({
  name: "MultiEdit",
  family: "edits",
  description: `Makes several replacements in one file at once: all of them, or none if one does not fit. Each follows the rules of Edit.`,
  input,
  claims: ({ file_path }, context) => writeClaims(context, file_path),
  check: async (given, context) => whyNot(await planEdits(given, context)),
  run: async function* (given, context, signal) {
    return makeEdits(given, context, {
      signal,
      data: ({ filePath, ...rest }) => ({ filePath, edits: given.edits, ...rest }),
    });
  },
});
