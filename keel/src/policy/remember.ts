/** What a remembered answer means for questions that are still open. */
import type { Ask } from "../protocol/ask.ts";
import { covers, parseRule } from "./rules.ts";

/**
 * Whether a newly learnt rule answers an open permission ask. About a command or a path only the rule does that its own
 * question has offered: that one was found to cover all of it.
 */
export function answersAsk(rule: string, ask: Ask): boolean {
  const parsed = parseRule(rule);
  if (
    !parsed ||
    ask.kind !== "permission" ||
    ask.tool === undefined ||
    !ask.claims ||
    ask.claims.length === 0 ||
    // A question that offers no rule is asked every time: no rule answers it.
    !ask.options.some((option) => option.rule !== undefined)
  )
    return false;
  const { tool } = ask;
  const isOffered = ask.options.some((option) => option.rule === rule);
  return isOffered || ask.claims.every((claim) => covers(parsed, tool, claim));
}
