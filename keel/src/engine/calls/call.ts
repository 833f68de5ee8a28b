/**
 * One call from the model's wish to its result, in six phases: schema, sense, hooks before, permission, run, hooks
 * after. Its start is on disk before it runs, its outcome before the model sees it.
 */

import {
  answerToolName,
  brokenCall,
  cancelledResult,
  deferredResult,
  folderGone,
  goneTool,
  interruptedResult,
  notRunResult,
  unknownTool,
} from "../../core/model-text.ts";
import type { ToolCall } from "../../core/state/call-state.ts";
import { isDeclared, toolsNow } from "../../core/toolbox.ts";
import { LightStop } from "../../kernel/abort.ts";
import { within } from "../../kernel/deadline.ts";
import { toFault } from "../../kernel/fault.ts";
import { present } from "../../kernel/json.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../ports/tool.ts";
import type { Denial, DurableEvent } from "../../protocol/event/durable.ts";
import { type ResultPart, text } from "../../protocol/message.ts";
import type { PermissionMode } from "../../protocol/settings.ts";
import type { Claim, Display } from "../../protocol/tool.ts";
import { changedByHooks, writtenBy } from "../changed-files.ts";
import { backUpAfter, backUpBefore, takeSnapshot } from "../checkpoint.ts";
import { hookContextOf } from "../consult.ts";
import { needsAsking, type StepContext } from "../step-context.ts";
import { bound } from "./bound.ts";
import { contextFor, rememberingPaths, startOf } from "./context.ts";
import { beat, drive, failure, pauseMs } from "./drive.ts";
import { innerCalls } from "./inner-calls.ts";
import { complaintAbout } from "./look.ts";
import { closeOpenAsks, judge, type Permission, permit, whyNotAnyMore } from "./permit.ts";
import { type CallInput, inputOf, type PreparedCall } from "./prepared.ts";

type FinishedCall = Omit<Extract<DurableEvent, { type: "tool.finished" }>, "type" | "callId" | "tool">;

export async function runCall(work: StepContext, prepared: PreparedCall): Promise<void> {
  const { call, tool } = prepared;
  const finish = (finished: FinishedCall): void => {
    closeOpenAsks(work, call.use.id);
    work.record({
      type: "tool.finished",
      callId: call.use.id,
      tool: typeof tool === "object" ? tool.name : call.use.name,
      ...finished,
    });
  };

  if (!tool) return finish(refusal(whyNoTool(work, call.use.name), { invalid: true }));
  if (typeof tool === "string") return finish(refusal(tool, {}));
  const { input: first } = prepared;
  if (!first) return finish(refusal(brokenCall(tool.name), { invalid: true }));
  const start = await startSafely(work, tool);
  if ("refused" in start) return finish(start.refused);
  const context = {
    ...contextFor(work, call, tool, start.folder),
    ...(tool.runsPrograms ? { calls: innerCalls(work, call, runCall) } : {}),
  };

  if (call.status === "started") return finish(await runAgain(work, { call, tool, context }));
  if (work.signal.aborted) return finish(notRun());

  const ready = await decideSafely(work, { call, tool, context, first });
  if ("refused" in ready) return finish(ready.refused);
  const { input, by, claims, facts, notes, stop, grounds } = ready;
  const { sent } = input;
  const changing = input.traits().readOnly ? [] : claims;
  await backUpBefore(work, changing);
  // The last moment before it has effects: whoever interrupted meanwhile does not want them.
  if (work.signal.aborted) return finish(notRun());
  work.record({
    type: "tool.started",
    callId: call.use.id,
    tool: tool.name,
    by,
    ...(sent === call.use.input ? {} : { input: sent }),
    facts,
  });
  await work.saved();
  const refused = await refusedNow(work, { tool, context, input }, { by, grounds, start: start.folder });
  if (refused)
    return finish({
      ...refused,
      ...(notes.length > 0 ? { context: [...notes] } : {}),
      ...(stop === undefined ? {} : { stop }),
    });
  const decided = { ...context, decided: claims };
  const finished = await run(work, { call, tool, context: decided, input, notes });
  await backUpAfter(work, changing);
  finish({ ...finished, ...(stop === undefined ? {} : { stop }) });
}

/** A command that was meant for a folder that is gone runs nowhere else; the next one starts in the session's own. */
async function startSafely(
  work: StepContext,
  tool: Tool,
  folder?: string,
): Promise<{ folder?: string } | { refused: FinishedCall }> {
  try {
    const { gone, ...start } = await startOf(work, tool, folder);
    if (gone === undefined) return start;
    const words = folderGone(gone, work.parts.workspace.cwd);
    return { refused: { ...refusal(words, { invalid: true }), keptFolder: null } };
  } catch (thrown) {
    return { refused: work.signal.aborted ? notRun() : refusal(toFault(thrown).message, {}) };
  }
}

/** The moment between the decision and the run has passed: what it rests on must still be so. */
async function refusedNow(
  work: StepContext,
  call: Pick<CallContext, "tool" | "context"> & { input: CallInput },
  { start, ...allowed }: Pick<Ready, "by" | "grounds"> & { start: string | undefined },
): Promise<FinishedCall | undefined> {
  // Also what a person has allowed was allowed in that folder.
  const again = start === undefined ? {} : await startSafely(work, call.tool, start);
  if ("refused" in again) return again.refused;
  try {
    const refused = await whyNotAnyMore(work, call, allowed);
    return refused && refusal(refused.denial.reason, { denied: refused.denial });
  } catch (thrown) {
    return work.signal.aborted ? notRun() : refusal(toFault(thrown).message, {});
  }
}

function whyNoTool(work: StepContext, name: string): string {
  if (isDeclared(work, name)) return goneTool(name);
  return unknownTool(
    name,
    toolsNow(work).map(({ name: known }) => known),
  );
}

/** A former process ended during this call: it runs again only if that is safe and nobody has to be asked. */
async function runAgain(work: StepContext, callContext: CallContext): Promise<FinishedCall> {
  const { context } = callContext;
  // A tool that fails over its own input says nothing about whether that is safe.
  const allowed = await allowedAgain(work, callContext).catch(() => undefined);
  if (!allowed) return refusal(interruptedResult, { interrupted: true });
  return run(work, {
    ...callContext,
    context: { ...context, decided: allowed.claims },
    input: allowed.input,
    notes: [],
  });
}

async function allowedAgain(
  work: StepContext,
  { call, tool, context }: CallContext,
): Promise<{ input: CallInput; claims: readonly Claim[] } | undefined> {
  const input = inputOf(tool, call.input ?? call.use.input);
  if (work.signal.aborted || !input.parse().ok || input.traits().replay === "never") return undefined;
  // What a path is may have changed meanwhile, so it is decided again.
  const { decision, claims } = await judge(work, { tool, context, input });
  return decision.verdict === "allow" ? { input, claims } : undefined;
}

type Ready = Omit<Permission & { verdict: "allow" }, "verdict"> & {
  notes: readonly string[];
  stop: string | undefined;
};
type CallContext = { call: ToolCall; tool: Tool; context: ToolContext };

/** A tool that fails while it looks at its input is refused like one that says why; the turn goes on. */
async function decideSafely(
  work: StepContext,
  context: CallContext & { first: CallInput },
): Promise<Ready | { refused: FinishedCall }> {
  try {
    return await decideCall(work, context);
  } catch (thrown) {
    if (thrown === needsAsking) throw thrown;
    if (work.signal.aborted) return { refused: notRun() };
    // A log that cannot be written says so again when the result is recorded.
    return { refused: refusal(toFault(thrown).message, {}) };
  }
}

/** Phases one to four: everything that can refuse the call before it has an effect. */
async function decideCall(
  work: StepContext,
  { call, tool, context, first }: CallContext & { first: CallInput },
): Promise<Ready | { refused: FinishedCall }> {
  const looking = rememberingPaths(context);
  const complaint = await complaintAbout(work, tool, { input: first, context: looking });
  if (complaint !== undefined) return { refused: refusal(complaint, { invalid: true }) };
  const { hooks } = work.parts;
  const facts = { callId: call.use.id, tool: tool.name };
  const told = hookContextOf(work, context.workspace.cwd);
  const hook = await hooks.beforeTool({ ...facts, input: call.use.input }, told);
  const input = hook.input === undefined ? first : inputOf(tool, hook.input);
  const objection =
    input === first ? undefined : await complaintAbout(work, tool, { input, context: looking });
  if (objection !== undefined) return { refused: refusal(objection, { invalid: true }) };
  // Nothing that is denied is handed on either.
  if (hook.defer && (await judge(work, { tool, context: looking, input })).decision.verdict !== "deny")
    return { refused: { ...refusal(deferredResult, {}), deferred: true } };
  const { sent } = input;
  // A person may take their time; what the command could change is kept meanwhile.
  await takeSnapshot(work, { tool, context: looking, input });
  const permission = await permit(work, { call, tool, context, looking, input, hook: hook.decision });
  if (permission.verdict === "deny") {
    await hooks.denied({ ...facts, input: sent, reason: permission.denial.reason }, told);
    if (permission.interrupt) work.interrupt("answer");
    return {
      refused: {
        ...refusal(permission.denial.reason, { denied: permission.denial }),
        ...(permission.facts ? { facts: permission.facts } : {}),
        ...(hook.context.length > 0 ? { context: [...hook.context] } : {}),
        ...(hook.stop === undefined ? {} : { stop: hook.stop }),
      },
    };
  }
  const { verdict: _, ...allowed } = permission;
  return { ...allowed, notes: hook.context, stop: hook.stop };
}

/** Phases five and six. */
async function run(
  work: StepContext,
  { call, tool, context, input, notes }: CallContext & { input: CallInput; notes: readonly string[] },
): Promise<FinishedCall> {
  const { clock, hooks, limits, spill } = work.parts;
  const startedAt = clock.monotonicMs();
  const outcome = await perform(work, { call, tool, context, input });
  const ms = Math.round(clock.monotonicMs() - startedAt);
  const failed = outcome.failed ?? false;
  const { content } = outcome;
  const written = await writtenBy(work, outcome);
  const ended = { callId: call.use.id, tool: tool.name, input: input.sent, ms, content };
  const told = hookContextOf(work, context.workspace.cwd);
  const after = failed
    ? await hooks.toolFailed({ ...ended, interrupted: outcome.interrupted ?? false }, told)
    : await hooks.afterTool({ ...ended, data: outcome.data }, told);
  const bounded = await bound(after.content ?? content, {
    callId: call.use.id,
    maxCharacters: tool.resultCharacters ?? limits.resultCharacters,
    spill,
  });
  const rewritten = await changedByHooks(work, written);
  const seen = outcome.seen?.map((file) => rewritten.seen.find(({ path }) => path === file.path) ?? file);
  const said = [...notes, ...after.context];
  const data = after.data ?? outcome.data;
  if (outcome.mode !== undefined && !failed) await changeMode(work, outcome.mode);
  if (outcome.folder && !failed) work.record({ type: "folder.changed", ...outcome.folder });
  return {
    content: readable([...bounded.content, ...rewritten.words.map(text)]),
    failed,
    display: outcome.display,
    ms,
    ...(data === undefined ? {} : { data }),
    ...(seen ? { seen } : {}),
    ...present({ todos: outcome.todos, loads: outcome.loads, allow: outcome.allow, denied: outcome.denied }),
    ...(bounded.spilled ? { spilled: bounded.spilled } : {}),
    ...(outcome.interrupted ? { interrupted: true } : {}),
    ...(said.length > 0 ? { context: said } : {}),
    ...(after.stop === undefined ? {} : { stop: after.stop }),
    ...(tool.name === answerToolName && !failed && outcome.data !== undefined
      ? { answer: outcome.data }
      : {}),
    ...present({ linesAdded: outcome.linesAdded, linesRemoved: outcome.linesRemoved }),
    ...(outcome.keptFolder === undefined ? {} : { keptFolder: keptFolderOf(work, outcome.keptFolder) }),
  };
}

const keptFolderOf = ({ parts }: StepContext, folder: string): string | null =>
  folder === parts.workspace.cwd ? null : folder;

/** A call may move the session into plan mode and out of it. */
async function changeMode(work: StepContext, mode: NonNullable<ToolOutcome["mode"]>): Promise<void> {
  const permissionMode = mode === "before-plan" ? modeToReturnTo(work) : mode;
  if (permissionMode === "plan") await work.parts.plan?.ready();
  work.record({ type: "settings.changed", patch: { permissionMode }, why: "plan" });
}

/** A log may remember a mode that nobody has allowed for this process. */
function modeToReturnTo({ state, parts }: StepContext): PermissionMode {
  const { modeBeforePlan } = state.worklist;
  return modeBeforePlan === "bypassPermissions" && parts.bypass !== "allowed" ? "default" : modeBeforePlan;
}

/** The only phase with effects. A tool that throws or does not stop becomes a failed result; the turn goes on. */
async function perform(
  work: StepContext,
  { call, tool, context, input }: CallContext & { input: CallInput },
): Promise<ToolOutcome & { interrupted?: boolean }> {
  const { clock, limits } = work.parts;
  const startedAt = clock.monotonicMs();
  const show = (display?: Display): void =>
    work.show({
      type: "tool.progress",
      callId: call.use.id,
      tool: tool.name,
      elapsedMs: Math.round(clock.monotonicMs() - startedAt),
      ...(display ? { display } : {}),
    });
  let left = false;
  const ended = new LightStop();
  const stop = (): void => ended.fire();
  if (work.signal.aborted) stop();
  else work.signal.addEventListener("abort", stop, { once: true });
  void beat(clock, ended, show);
  try {
    const timed = await within({ clock, ms: limits.toolMs, signal: work.signal }, (signal) =>
      drive(tool.run(input.value(), context, signal), {
        show,
        isLeft: () => left,
        rest: () => clock.sleep(pauseMs, signal),
      }),
    );
    left = timed.kind !== "done";
    if (timed.kind === "done")
      return work.signal.aborted
        ? { ...timed.value, failed: true, interrupted: true }
        : asPromised(tool, timed.value);
    const words =
      timed.kind === "late"
        ? `${tool.name} took too long and was stopped; it may have had effects.`
        : cancelledResult;
    return { ...failure(words), interrupted: true };
  } catch (thrown) {
    if (thrown === needsAsking) throw thrown;
    return work.signal.aborted
      ? { ...failure(cancelledResult), interrupted: true }
      : failure(toFault(thrown).message);
  } finally {
    work.signal.removeEventListener("abort", stop);
    stop();
  }
}

/** What is not of the form that the tool says is no result that a program could rely on. */
const asPromised = ({ name, output }: Tool, outcome: ToolOutcome): ToolOutcome =>
  outcome.failed || !output || output.parse(outcome.data).ok
    ? outcome
    : failure(`${name} gave data of another form than it says; it may have had effects.`);

/** A provider refuses blank texts, and a result without content tells the model nothing. */
function readable(content: readonly ResultPart[]): ResultPart[] {
  const parts = content.filter((part) => part.type !== "text" || part.text.trim() !== "");
  return parts.length > 0 ? parts : [text("(no output)")];
}

const notRun = (): FinishedCall =>
  refusal(notRunResult, { denied: { by: "interrupt", reason: notRunResult } });

function refusal(words: string, more: { denied?: Denial; invalid?: true; interrupted?: true }): FinishedCall {
  const content: ResultPart[] = [text(words)];
  return { content, display: { kind: "text", text: words }, failed: true, ms: 0, ...more };
}
