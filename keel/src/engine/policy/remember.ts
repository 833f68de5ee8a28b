/** What a remembered answer means for questions that are still open. */
import type { Ask } from "../../protocol/ask.ts";
import { covers, parseRule } from "./rules.ts";

/**
 * Whether a newly learnt rule answers an open permission ask. Commands are not answered this way: what a rule covers
 * of them is decided with the facts, when the call is judged again.
 */
export function answersAsk(rule: string, ask: Ask): boolean {
  const parsed = parseRule(rule);
  if (
    !parsed ||
    ask.kind !== "permission" ||
    ask.tool === undefined ||
    !ask.claims ||
    ask.claims.length === 0
  )
    return false;
  const { tool } = ask;
  return ask.claims.every(
    (claim) =>
      covers(parsed, tool, claim) ||
      (claim.action === "execute" && parsed.tool === tool && isSameText(parsed.pattern, claim.target)),
  );
}

/** The very text that was asked about. */
const isSameText = (pattern: NonNullable<ReturnType<typeof parseRule>>["pattern"], text: string): boolean =>
  pattern.kind === "shell" && pattern.shell.kind === "exact" && pattern.shell.text === text.trim();
