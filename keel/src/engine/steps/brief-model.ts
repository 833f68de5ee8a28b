/**
 * What the model must know before it is asked: the prompt, set at the first request and again only for a declared
 * reason, and what has changed since, which is appended to the conversation.
 */

import { defuse, note } from "../../core/context/blocks.ts";
import { promptFor } from "../../core/context/prompt.ts";
import { isDeferred } from "../../core/deferred.ts";
import { notesKept, planBegins, planEnds, todosAgain, toolsCanBeLoaded } from "../../core/model-text.ts";
import { toolsNow } from "../../core/toolbox.ts";
import type { AddedWhy } from "../../protocol/reasons.ts";
import type { StepContext } from "../step-context.ts";
import { briefNear, briefStart } from "./brief-start.ts";

export async function briefModel(work: StepContext): Promise<void> {
  await work.parts.toolbox?.ready(work.signal);
  const prompt = promptFor(work);
  if (prompt) work.record({ type: "prompt.fixed", ...prompt });
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
