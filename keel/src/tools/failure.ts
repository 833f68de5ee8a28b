/** A tool that could not do its work: a value with a sentence, for the model and the screen alike. */
import type { ToolOutcome } from "../ports/tool.ts";
import { text } from "../protocol/message.ts";

export const failure = (why: string): ToolOutcome => ({
  content: [text(why)],
  display: { kind: "text", text: why },
  failed: true,
});
