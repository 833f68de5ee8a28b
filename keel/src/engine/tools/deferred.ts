/** Deferred tools: known to the session, but in no request until the model has loaded them. */
import type { State } from "../state.ts";
import type { Tool } from "./define.ts";

export const toolSearchName = "ToolSearch";

/** One that an earlier request has offered stays offered: taking it away would change the prompt for nothing. */
export const isDeferred = ({ deferred, name }: Tool, { desk, prompt }: State): boolean =>
  deferred && !desk.loaded.includes(name) && prompt?.tools.some((known) => known.name === name) !== true;

/** What the next request offers. Without a way to load them, nothing is held back. */
export function offeredNow(tools: readonly Tool[], state: State): Tool[] {
  const canLoad = tools.some(({ name }) => name === toolSearchName);
  return canLoad ? tools.filter((tool) => !isDeferred(tool, state)) : [...tools];
}
