/**
 * What the model must know before it is asked: the prompt, set at the first request and again only for a declared
 * reason, and what has changed since, which is appended to the conversation.
 */

import { defuse, note } from "../../core/context/blocks.ts";
import { isDeferred, offeredNow } from "../../core/deferred.ts";
import { notesKept, planBegins, planEnds, todosAgain, toolsCanBeLoaded } from "../../core/model-text.ts";
import type { SessionState } from "../../core/state/state.ts";
import { toolsNow } from "../../core/toolbox.ts";
import { sameJson } from "../../kernel/json.ts";
import type { AddedWhy, PromptWhy } from "../../protocol/reasons.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import type { StepContext } from "../step-context.ts";
import { briefNear, briefStart } from "./brief-start.ts";

export async function briefModel(work: StepContext): Promise<void> {
  await work.parts.toolbox?.ready(work.signal);
  fixPrompt(work);
  await briefStart(work);
  await briefNear(work);
  const news = work.parts.briefing?.news?.() ?? [];
  if (news.length > 0) work.record({ type: "context.added", content: [...news], why: "skills" });
  announceTools(work);
  await tellMemory(work);
  await tellPlan(work);
  const { todos, knowsTodos } = work.state.desk;
  if (!knowsTodos) tell(work, "todos", todosAgain(todos));
}

function fixPrompt(work: StepContext): void {
  const { system, promptOnResume } = work.parts;
  const logged = work.state.prompt;
  const offered = offeredNow(toolsNow(work), work.state).map(({ spec }) => spec);
  const specs = inOrderOf(logged?.tools ?? [], [...offered, ...stillDeclared(work, offered)]);
  const wanted = logged && promptOnResume === "logged" ? logged.system : system;
  const why = promptChange(logged, { system: wanted, tools: specs });
  if (why) work.record({ type: "prompt.fixed", system: [...wanted], tools: specs, why });
}

/** A tool whose server is gone stays declared until a boundary comes anyway: its absence alone is not worth one. */
function stillDeclared({ state, parts }: StepContext, offered: readonly ToolSpec[]): ToolSpec[] {
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

/** Deferred tools are told in a message: the prompt, which stands before it, stays as it is. */
function announceTools(work: StepContext): void {
  const { announced } = work.state.desk;
  const offered = new Set(work.state.prompt?.tools.map(({ name }) => name));
  const names = toolsNow(work)
    .filter(
      (tool) => isDeferred(tool, work.state) && !offered.has(tool.name) && !announced.includes(tool.name),
    )
    .map(({ name }) => name);
  if (names.length > 0) tell(work, "tools_added", toolsCanBeLoaded(names), names);
}

/** Notes are data that earlier sessions left: nothing in them passes as our word. */
async function tellMemory(work: StepContext): Promise<void> {
  const { memory } = work.parts;
  if (!memory || work.state.desk.knowsMemory) return;
  const index = await memory.index();
  if (index !== "") tell(work, "memory", notesKept(defuse(index)));
}

async function tellPlan(work: StepContext): Promise<void> {
  const { plan } = work.parts;
  const isOn = work.state.settings?.permissionMode === "plan";
  if (isOn === work.state.desk.knowsPlan) return;
  if (!isOn) return tell(work, "plan", planEnds);
  await plan?.ready();
  tell(work, "plan", planBegins({ file: plan?.path, tools: toolsNow(work).map(({ name }) => name) }));
}

function tell(work: StepContext, why: AddedWhy, words: string, tools?: string[]): void {
  work.record({ type: "context.added", content: [note(words)], why, ...(tools ? { tools } : {}) });
}
