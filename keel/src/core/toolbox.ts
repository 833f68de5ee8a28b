/**
 * Tools that come and go while a session runs: those of servers. The list of a session is fixed at its first request;
 * what arrives later is announced and loaded, what leaves stays declared until the prompt changes anyway.
 */

import type { ArtifactFile } from "../ports/artifacts.ts";
import type { BoxTool, Toolbox, ToolHead, WorklistView } from "../ports/tool.ts";
import type { SessionState } from "./state/state.ts";

/** What a session has, as far as tools go. */
export type ToolboxOwner = {
  readonly parts: {
    readonly tools: readonly ToolHead[];
    readonly toolbox?: Toolbox | undefined;
    readonly redirects?: Readonly<Record<string, string>> | undefined;
  };
  readonly state: SessionState;
};

/** All tools that the session knows now: its own, then those of the box by name. Its own win over others of one name. */
export function toolsNow({ parts, state }: ToolboxOwner): readonly ToolHead[] {
  const boxed = parts.toolbox?.tools().filter(isEnabled) ?? [];
  const tools = parts.tools.every(isEnabled) ? parts.tools : parts.tools.filter(isEnabled);
  if (boxed.length === 0) return tools;
  const own = new Set(tools.flatMap(({ name, aliases }) => [name, ...aliases]));
  const others = boxed.filter(({ name }) => !own.has(name)).toSorted(byName);
  return [...tools, ...others.map((tool) => (isHeldBack(tool, state) ? { ...tool, deferred: true } : tool))];
}

const isEnabled = ({ enabled }: ToolHead): boolean => enabled !== false;

/** The tool that a call by this name runs; a name may be redirected to another tool, and is then never its own again. */
export function toolFor(held: ToolboxOwner, name: string): ToolHead | undefined {
  const redirects = held.parts.redirects;
  const called = redirects && Object.hasOwn(redirects, name) ? redirects[name] : name;
  const tools = toolsNow(held);
  return (
    tools.find((tool) => tool.name === called) ??
    tools.find(({ aliases }) => aliases.includes(called ?? name))
  );
}

/** The request that the model saw declares it, but nobody can run it now. */
export const isDeclared = ({ state }: ToolboxOwner, name: string): boolean =>
  state.prompt?.tools.some((known) => known.name === name) === true;

/** One that joins does so with an input: in the middle of a turn it would make the whole conversation new. */
function isHeldBack({ late = "announced" }: BoxTool, { prompt, turn }: SessionState): boolean {
  if (prompt === null) return false;
  return late === "announced" || (turn !== null && turn.requests > 0);
}

/** What a call may know of the worklist. */
export function worklistOf(
  owner: ToolboxOwner & { readonly parts: { readonly plan?: Pick<ArtifactFile, "path"> | undefined } },
): WorklistView {
  const { state, parts } = owner;
  const tools = toolsNow(owner);
  const { todos, lastTodo } = state.worklist;
  return {
    todos,
    lastTodo,
    mode: state.settings?.permissionMode ?? "default",
    planFile: parts.plan?.path,
    offered: tools.map(({ name }) => name),
    deferred: tools
      .filter((tool) => isDeferred(tool, state))
      .map(({ spec, searchHint }) => (searchHint === undefined ? spec : { ...spec, searchHint })),
  };
}

const byName = (left: ToolHead, right: ToolHead): number => (left.name < right.name ? -1 : 1);

/** Deferred tools: known to the session, but in no request until the model has loaded them. */
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
