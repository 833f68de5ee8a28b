/** The environment of a session, in our own words. */
import type { Options } from "./options.ts";

export type SdkEnvironment = Readonly<Record<string, string | undefined>>;

/** Variables of the executable that this interface drives elsewhere mean the same as ours; ours win. */
const sameMeaning: Readonly<Record<string, string>> = {
  CLAUDE_CODE_MAX_RETRIES: "KEEL_MAX_RETRIES",
  CLAUDE_CODE_ENABLE_TASKS: "KEEL_ENABLE_TASKS",
  CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES: "KEEL_TOOL_USE_SUMMARIES",
  CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "KEEL_FILE_CHECKPOINTING",
};

/** Whether a variable switches something on. */
export const isOn = (value: string | undefined): boolean =>
  value !== undefined && !["", "0", "false", "no", "off"].includes(value.trim().toLowerCase());

export function environmentOf({ env: given }: Options, processEnv: SdkEnvironment): SdkEnvironment {
  const env = given ?? processEnv;
  const renamed = Object.entries(sameMeaning).flatMap(([theirs, ours]) =>
    env[theirs] === undefined ? [] : [[ours, env[theirs]] as const],
  );
  return { ...Object.fromEntries(renamed), ...env };
}
