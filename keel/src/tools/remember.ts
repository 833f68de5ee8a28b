/** Remember: keeps a note over sessions. It is asked for like any other change. */
import * as z from "zod/mini";
import { type Memory, noteTypes } from "../ports/memory.ts";
import type { Tool } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, failure, textField } from "./built-in.ts";

const input = z.object({
  name: textField("The topic, such as build-commands; an existing one is replaced.", z.maxLength(64)),
  type: z.enum(noteTypes).check(z.describe("What it is about.")),
  description: textField("One line for the index.", z.minLength(1), z.maxLength(500)),
  content: textField("The whole note, in Markdown.", z.minLength(1), z.maxLength(100_000)),
});

export const rememberTool = (memory: Memory): Tool<z.infer<typeof input>> =>
  builtInTool({
    name: "Remember",
    description:
      "Keeps a note for later sessions in this project: a wish of the person, a correction, a fact that took work to find. No secrets, nothing that the files say themselves.",
    input,
    run: async function* (note) {
      const kept = await memory.remember(note);
      if (!kept.ok) return failure(kept.why);
      return {
        content: [text(`Kept as ${note.name}.`)],
        display: { kind: "text", text: `${note.name}: ${note.description}` },
        data: { name: note.name },
      };
    },
  });
