/** A fault on the way out: one sentence, a hint, and the exit code of the table. No stack, no secret. */
import type { WrittenSetting } from "../../app/maintenance/settings-files.ts";
import type { Fault } from "../../kernel/fault.ts";
import { shorten, visible } from "../../kernel/text.ts";
import type { Context } from "./context.ts";
import type { Output } from "./output.ts";

/** Words of a provider or of a file may be in the sentence: they are bounded, and cannot move the cursor. */
const maxCharacters = 600;

export function showFault(err: Output, fault: Fault): void {
  err.line(`keel: ${visible(shorten(fault.message.trim(), maxCharacters)).replaceAll("\n", " ")}`);
  err.line(fault.hint);
}

/** Says where a change of settings went, and whether it counts already. */
export function sayWritten({ file, counts }: WrittenSetting, { err }: Pick<Context, "err">): void {
  err.line(`Saved in ${visible(file)}.`);
  if (!counts) err.line("It counts when the project is trusted: `keel trust` shows what that means.");
}
