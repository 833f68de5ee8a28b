/** Remember: keeps a note over sessions. It is asked for like any other change. */
import * as z from "zod/mini";
import { schemaOf } from "../kernel/schema.ts";
import { defineTool } from "../ports/define-tool.ts";
import { type Memory, noteTypes } from "../ports/memory.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { failure } from "./failure.ts";
import { toolHeads } from "./heads.ts";

const input = z.object({
  name: z
    .string()
    .check(z.maxLength(64), z.describe("The topic, such as build-commands; an existing one is replaced.")),
  type: z.enum(noteTypes).check(z.describe("What it is about.")),
  description: z.string().check(z.minLength(1), z.maxLength(500), z.describe("One line for the index.")),
  content: z.string().check(z.minLength(1), z.maxLength(100_000), z.describe("The whole note, in Markdown.")),
});
type RememberInput = z.infer<typeof input>;

export const rememberTool = (memory: Memory): Tool<RememberInput> =>
  defineTool({
    name: "Remember",
    description:
      "Keeps a note for later sessions in this project: a wish of the person, a correction, a fact that took work to find. No secrets, nothing that the files say themselves.",
    input: schemaOf(input, toolHeads.Remember.input),
    run: async function* (note): AsyncGenerator<never, ToolOutcome> {
      const kept = await memory.remember(note);
      if (!kept.ok) return failure(kept.why);
      return {
        content: [text(`Kept as ${note.name}.`)],
        display: { kind: "text", text: `${note.name}: ${note.description}` },
        data: { name: note.name },
      };
    },
  });
