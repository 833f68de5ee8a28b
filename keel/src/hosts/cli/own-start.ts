/** How this very program is started once more, as a process of its own. */
import { fault } from "../../kernel/fault.ts";

/** Throws `usage` where nobody knows. */
export function ownStart(): { readonly command: string; readonly args: readonly string[] } {
  const script = process.argv[1];
  if (script === undefined) throw fault("usage", { reason: "Keel does not know how it was started." });
  return { command: process.execPath, args: [...process.execArgv, script] };
}
