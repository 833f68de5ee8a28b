/** Deferred tools: known to the session, but in no request until the model has loaded them. */

import type { ToolHead } from "../ports/tool.ts";
import type { SessionState } from "./state/state.ts";

export const toolSearchName = "ToolSearch";

/** One that an earlier request has offered stays offered: taking it away would change the prompt for nothing. */
export const isDeferred = ({ deferred, name }: ToolHead, { worklist, prompt }: SessionState): boolean =>
  deferred && !worklist.loaded.includes(name) && prompt?.tools.some((known) => known.name === name) !== true;

/**
 * What the next request offers. Without a way to load them nothing is held back, but what came in the middle of a turn
 * waits for the next input: then the conversation is read anew once, and not at any moment.
 */
export function offeredNow(tools: readonly ToolHead[], state: SessionState): ToolHead[] {
  const canLoad = tools.some(({ name }) => name === toolSearchName);
  const isMidway = state.prompt !== null && (state.turn?.requests ?? 0) > 0;
  return tools.filter((tool) => !(canLoad || isMidway) || !isDeferred(tool, state));
}
