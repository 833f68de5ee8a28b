/**
 * What the model must know before it is asked: the prompt, set at the first request and again only for a declared
 * reason, and what has changed since, which is appended to the conversation.
 */

import { defuse, note } from "../../core/context/blocks.ts";
import { enclose } from "../../core/context/enclose.ts";
import { promptFor } from "../../core/context/request.ts";
import {
  arrivedHere,
  notesKept,
  planBegins,
  planEnds,
  serverSaysTooMuch,
  serversSay,
  todosAgain,
  todosStale,
  toolsCanBeLoaded,
} from "../../core/model-text.ts";
import { hasStaleTodos } from "../../core/state/worklist.ts";
import { isDeferred, toolsNow } from "../../core/toolbox.ts";
import type { BriefingOutput } from "../../ports/briefing.ts";
import { text } from "../../protocol/message.ts";
import type { AddedWhy } from "../../protocol/reasons.ts";
import { hookContextOf } from "../consult.ts";
import type { StepContext } from "../step-context.ts";

export async function briefModel(work: StepContext): Promise<void> {
  await work.parts.toolbox?.ready(work.signal);
  const prompt = promptFor(work);
  if (prompt) work.record({ type: "prompt.fixed", ...prompt });
  const { arrival } = work.state.worklist;
  if (arrival) tell(work, "moved", defuse(arrivedHere(arrival)));
  await briefStart(work);
  await briefNear(work);
  const turn = work.state.turn?.id;
  for (const { why, content } of (await work.parts.briefing?.news?.(toolNames(work), turn)) ?? [])
    work.record({ type: "context.added", content: [...content], why });
  announceTools(work);
  tellServers(work);
  await tellMemory(work);
  await tellPlan(work);
  const { todos, knowsTodos } = work.state.worklist;
  if (!knowsTodos) tell(work, "todos", todosAgain(todos));
  else if (hasStaleTodos(work.state.worklist)) tell(work, "todos", todosStale(todos));
}

/** Deferred tools are told in a message: the prompt, which stands before it, stays as it is. */
function announceTools(work: StepContext): void {
  const { announced } = work.state.worklist;
  const offered = new Set(work.state.prompt?.tools.map(({ name }) => name));
  const names = toolsNow(work)
    .filter(
      (tool) => isDeferred(tool, work.state) && !offered.has(tool.name) && !announced.includes(tool.name),
    )
    .map(({ name }) => name);
  if (names.length > 0) tell(work, "tools_added", toolsCanBeLoaded(names), names);
}

/** What the words of all servers together may take of a conversation. */
const maxServerCharacters = 8_000;

/** Each server once, when the model has a tool of it; what it says stands between tags that it cannot end. */
function tellServers(work: StepContext): void {
  const names = toolsNow(work).map(({ name }) => name);
  const known = new Set(work.state.worklist.servers);
  const said = (work.parts.toolbox?.instructions?.() ?? []).filter(({ prefix }) =>
    names.some((name) => name.startsWith(prefix)),
  );
  const fresh = said.filter(({ server }) => !known.has(server));
  if (fresh.length === 0) return;
  let left = said.filter(({ server }) => known.has(server)).reduce(lessWords, maxServerCharacters);
  const blocks = fresh.map((one) => {
    const fits = one.words.length <= left;
    if (fits) left = lessWords(left, one);
    return text(enclose("keel-server", { name: one.server }, fits ? one.words : serverSaysTooMuch));
  });
  const content = [note(serversSay), ...blocks];
  const servers = fresh.map(({ server }) => server);
  work.record({ type: "context.added", content, why: "servers", servers });
}

const lessWords = (left: number, { words }: { readonly words: string }): number => left - words.length;

/** Notes are data that earlier sessions left: nothing in them passes as our word. */
async function tellMemory(work: StepContext): Promise<void> {
  const { memory } = work.parts;
  if (!memory || work.state.worklist.knowsMemory) return;
  const index = await memory.index();
  if (index !== "") tell(work, "memory", notesKept(defuse(index)));
}

async function tellPlan(work: StepContext): Promise<void> {
  const { plan } = work.parts;
  const isOn = work.state.settings?.permissionMode === "plan";
  if (isOn === work.state.worklist.knowsPlan) return;
  if (!isOn) return tell(work, "plan", planEnds);
  await plan?.ready();
  tell(work, "plan", planBegins({ file: plan?.path, tools: toolsNow(work).map(({ name }) => name) }));
}

function tell(work: StepContext, why: AddedWhy, words: string, tools?: string[]): void {
  work.record({ type: "context.added", content: [note(words)], why, ...(tools ? { tools } : {}) });
}

const toolNames = (work: StepContext): ReadonlySet<string> => new Set(toolsNow(work).map(({ name }) => name));

/** Before the first word of a person, and again after the conversation was cleared or shortened. */
export async function briefStart(work: StepContext): Promise<void> {
  const { briefing } = work.parts;
  if (!briefing || work.state.worklist.briefed) return;
  await record(work, await briefing.start(toolNames(work)), "start");
}

/** Before a request: instructions of the folders in which files were looked at since the last one. */
async function briefNear(work: StepContext): Promise<void> {
  const { briefing } = work.parts;
  const { looked, instructed } = work.state.worklist;
  if (!briefing || looked.length === 0) return;
  const told = await briefing.near(looked, instructed);
  if (told.content.length > 0) await record(work, told, "near");
  else tellProblems(work, told);
}

/** What was left out is the person's to know: the model has nothing of it. */
function tellProblems(work: StepContext, { problems = [] }: BriefingOutput): void {
  for (const text of problems)
    work.show({ type: "notice.raised", level: "warning", text, code: "instructions" });
}

async function record(work: StepContext, told: BriefingOutput, at: "start" | "near"): Promise<void> {
  const { content, files } = told;
  tellProblems(work, told);
  const paths = files.map(({ path }) => path);
  work.record({ type: "context.added", content: [...content], why: "instructions", files: paths });
  for (const { path, source } of files)
    await work.parts.hooks.instructed({ path, source, at }, hookContextOf(work));
}
