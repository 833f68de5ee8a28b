/** A program that wants to be asked about calls, and says in the same breath that it need not be. */
import type { Options } from "./options.ts";

/** By which programs of the interface find the warning, or leave it out. */
const code = "CLAUDE_SDK_CAN_USE_TOOL_SHADOWED";

/** Rules of settings may do the same; those are read later, and by somebody else. */
export function warnOfShadowedCallback(options: Options): void {
  const words = options.canUseTool && shadowIn(options);
  if (words) process.emitWarning(`${words} A PreToolUse hook sees every call.`, { code });
}

function shadowIn({ permissionMode, allowedTools = [] }: Options): string | undefined {
  if (permissionMode === "bypassPermissions")
    return "canUseTool is not called: bypassPermissions allows every call that no rule denies.";
  const whole = allowedTools.filter((rule) => rule !== "" && !rule.includes("("));
  if (whole.length === 0) return undefined;
  return `canUseTool is not called for ${whole.join(", ")}: allowedTools allows all calls of a tool that is named without parentheses.`;
}
