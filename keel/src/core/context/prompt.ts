/** The prompt that the next request starts with, and why it is another than that of the request before. */

import { sameJson } from "../../kernel/json.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import type { PromptWhy } from "../../protocol/reasons.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import { offeredNow } from "../deferred.ts";
import type { SessionState } from "../state/state.ts";
import { type ToolboxOwner, toolsNow } from "../toolbox.ts";

type PromptOwner = ToolboxOwner & {
  readonly parts: {
    readonly system: readonly string[];
    /** Whether a resumed session keeps the prompt of its log. */
    readonly promptOnResume: "logged" | "given";
  };
};

/** Undefined where it stays as it is. */
export function promptFor(
  owner: PromptOwner,
): Omit<Extract<DurableEvent, { type: "prompt.fixed" }>, "type"> | undefined {
  const { system, promptOnResume } = owner.parts;
  const logged = owner.state.prompt;
  const offered = offeredNow(toolsNow(owner), owner.state).map(({ spec }) => spec);
  const tools = inOrderOf(logged?.tools ?? [], [...offered, ...stillDeclared(owner, offered)]);
  const wanted = { system: [...(logged && promptOnResume === "logged" ? logged.system : system)], tools };
  const why = promptChange(logged, wanted);
  return why && { ...wanted, why };
}

/** A tool whose server is gone stays declared until a boundary comes anyway: its absence alone is not worth one. */
function stillDeclared({ state, parts }: PromptOwner, offered: readonly ToolSpec[]): ToolSpec[] {
  if (state.desk.mayRenew) return [];
  const names = new Set(offered.map(({ name }) => name));
  return (state.prompt?.tools ?? []).filter(({ name }) => !names.has(name) && parts.toolbox?.knows(name));
}

/** Tools that the log knows keep their places: another order alone would make the whole prefix new. */
function inOrderOf(known: readonly ToolSpec[], given: readonly ToolSpec[]): ToolSpec[] {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: ToolSpec): number => places.get(name) ?? known.length;
  return [...given].sort((left, right) => placeOf(left) - placeOf(right));
}

function promptChange(
  logged: SessionState["prompt"],
  wanted: NonNullable<SessionState["prompt"]>,
): PromptWhy | undefined {
  if (!logged) return "first";
  if (!sameJson(logged.system, wanted.system)) return "host";
  if (sameJson(logged.tools, wanted.tools)) return undefined;
  const names = new Set(wanted.tools.map(({ name }) => name));
  if (logged.tools.some(({ name }) => !names.has(name))) return "tools_removed";
  return logged.tools.length < wanted.tools.length ? "tools_added" : "tools_changed";
}
