/** A fault on the way out: one sentence, a hint, and the exit code of the table. No stack, no secret. */
import type { Fault } from "../../kernel/fault.ts";
import { shorten, visible } from "../../kernel/text.ts";
import type { Output } from "./output.ts";

/** Words of a provider or of a file may be in the sentence: they are bounded, and cannot move the cursor. */
const maxCharacters = 600;

export function showFault(err: Output, fault: Fault): void {
  err.line(`keel: ${visible(shorten(fault.message.trim(), maxCharacters)).replaceAll("\n", " ")}`);
  err.line(fault.hint);
}
