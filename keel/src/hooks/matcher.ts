/** Which hooks a moment is for: a name, several names with `|`, or a pattern; nothing, an empty text or `*` is all. */
import type { HookMoment } from "../protocol/hook.ts";

export function matches(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true;
  if (/^[\w\s|,-]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject);
  return patternOf(matcher)?.test(subject) ?? false;
}

/** Whether a matcher can be understood; one that cannot never matches. */
export const isMatcher = (matcher: string): boolean =>
  matcher === "" || matcher === "*" || patternOf(matcher) !== undefined;

/** What a matcher is held against. Undefined: the moment has nothing to choose by. */
export function subjectOf(moment: HookMoment): string | undefined {
  switch (moment.hook_event_name) {
    case "PreToolUse":
    case "PostToolUse":
    case "PostToolUseFailure":
    case "PermissionRequest":
    case "PermissionDenied":
      return moment.tool_name;
    case "SessionStart":
      return moment.source;
    case "SessionEnd":
      return moment.reason;
    case "Notification":
      return moment.notification_type;
    case "PreCompact":
    case "PostCompact":
      return moment.trigger;
    case "SubagentStart":
    case "SubagentStop":
      return moment.agent_type;
    case "StopFailure":
      return moment.error;
    case "PreModelSwitch":
    case "PostModelSwitch":
      return moment.to_model;
    case "InstructionsLoaded":
      return moment.load_reason;
    case "PostToolBatch":
    case "UserPromptSubmit":
    case "Stop":
    case "TaskCreated":
    case "TaskCompleted":
    case "DirectoryAdded":
      return undefined;
  }
}

/** A subject is short and comes from us or is the name of a tool, so a slow pattern harms whoever wrote it. */
function patternOf(matcher: string): RegExp | undefined {
  try {
    return new RegExp(matcher);
  } catch {
    return undefined;
  }
}
