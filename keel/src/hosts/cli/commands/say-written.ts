/** Says where a change of settings went, and whether it counts already. */

import type { WrittenSetting } from "../../../app/maintenance/settings-files.ts";
import { visible } from "../../../kernel/text.ts";
import type { Context } from "../context.ts";

export function sayWritten({ file, counts }: WrittenSetting, { err }: Pick<Context, "err">): void {
  err.line(`Saved in ${visible(file)}.`);
  if (!counts) err.line("It counts when the project is trusted: `keel trust` shows what that means.");
}
