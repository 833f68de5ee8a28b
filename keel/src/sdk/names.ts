/** Names that programs compare with: tools, older names of tools, ends of a session. */
import { toolAliases, toolNames } from "../protocol/tool-families.ts";

/** The built-in tools; which of them a session offers, its `init` says. */
export const BUILTIN_TOOL_NAMES: typeof toolNames = toolNames;

/** Older names under which a tool can still be called. */
export const LEGACY_TOOL_NAME_ALIASES: typeof toolAliases = toolAliases;

/** Why a session ended, as `SessionEnd` hooks are told. */
export const EXIT_REASONS = ["clear", "resume", "logout", "prompt_input_exit", "other"] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

/** Stands in a list of system prompts where the part begins that changes; it is not sent. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = "__KEEL_SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
