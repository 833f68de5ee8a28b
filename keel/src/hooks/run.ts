/**
 * Calls hooks: those that a moment is for, all at once, each with its own deadline. A hook that throws, is late or
 * answers rubbish has no opinion, and a notice says so, once until it works again; one that is declared to block on
 * failure objects instead.
 */

import { within } from "../kernel/deadline.ts";
import { toFault } from "../kernel/fault.ts";
import { asObject } from "../kernel/json.ts";
import type { Consult } from "../ports/consult.ts";
import type { HookContext } from "../ports/hooks.ts";
import { type HookEvent, type HookInput, type HookMoment, hookPointOf } from "../protocol/hook.ts";
import { type Merged, merge, type Opinion, readOpinion } from "./opinion.ts";

/** One hook: user code at a point. */
export type Hook = {
  readonly event: HookEvent;
  /** Which tools, sources or kinds it is for; all when left out. */
  readonly matcher?: string | undefined;
  /** A closer look than the matcher's. */
  readonly isFor?: ((input: HookInput) => boolean) | undefined;
  /** What a notice calls it. */
  readonly name: string;
  /** In place of the common time limit. */
  readonly timeoutMs?: number | undefined;
  /** `block`: when it fails, what it watches does not happen. */
  readonly onFailure?: "continue" | "block" | undefined;
  /** Is called at its first moment only. */
  readonly once?: boolean | undefined;
  /** Nobody waits for it, and it has no opinion. */
  readonly detached?: boolean | undefined;
  /** It runs outside of the process: whoever wants to is told when it starts and what came of it. */
  readonly outside?: boolean | undefined;
  /** Returns an output of the contract, or nothing. Settles soon after the signal fires. */
  call(input: HookInput, context: HookCallContext): Promise<unknown>;
};

export type HookCallContext = {
  readonly callId: string | undefined;
  /** Where it belongs in a trace, as W3C's `traceparent` writes it. */
  readonly trace?: string | undefined;
  readonly signal: AbortSignal;
  /** For hooks outside: what they said. */
  report(run: HookReport): void;
  /** For hooks outside: what they have said so far. */
  progress(run: HookReport): void;
  /** One question to the model, on the bill of the session. */
  readonly consult?: Consult | undefined;
};

export type HookReport = {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode?: number | undefined;
};

export type Fire = (moment: HookMoment, context: HookContext) => Promise<Merged>;

/** Words of hooks are for the model, which has a window. */
const maxContextCharacters = 100_000;

export type DeclaredHooks = {
  readonly hooks: readonly Hook[];
  /** Where the transcript of a session stands, or that of an agent of it, in the form that hooks read. */
  transcript(session: string, agentId?: string): Promise<string | undefined>;
};

export function hookFirer({ hooks, transcript }: DeclaredHooks): Fire {
  const told = new Set<Hook>();
  const spent = new Set<Hook>();
  return async (moment, context) => {
    const subject = subjectOf(moment);
    const unplaced: HookInput = {
      session_id: context.session,
      transcript_path: "",
      cwd: context.cwd,
      permission_mode: context.permissionMode,
      ...(context.inputId === undefined ? {} : { prompt_id: context.inputId }),
      ...(context.agent ? { agent_id: context.agent.id, agent_type: context.agent.kind } : {}),
      ...moment,
    };
    const chosen = hooks.filter(
      (hook) =>
        hook.event === moment.hook_event_name &&
        !spent.has(hook) &&
        matches(hook.matcher, subject) &&
        (hook.isFor?.(unplaced) ?? true),
    );
    if (chosen.length === 0) return merge([]);
    const input = { ...unplaced, ...(await transcriptPaths(moment, { context, transcript })) };
    for (const hook of chosen) if (hook.once) spent.add(hook);
    const opinions = await Promise.all(chosen.map((hook) => opinionOf(hook, { input, site: context, told })));
    for (const { say } of opinions)
      if (say !== undefined) context.show({ type: "notice.raised", level: "info", text: say, code: "hook" });
    return merge(opinions);
  };
}

/** With all that has happened in it, as far as it can be written. */
async function transcriptPaths(
  moment: HookMoment,
  { context, transcript }: { context: HookContext; transcript: DeclaredHooks["transcript"] },
): Promise<Pick<HookInput, "transcript_path"> & { agent_transcript_path?: string }> {
  // What keeps it from the disk is told by whoever wrote it.
  await context.saved?.().catch(() => undefined);
  const own = (await transcript(context.session).catch(() => undefined)) ?? "";
  if (!("agent_transcript_path" in moment)) return { transcript_path: own };
  const agent = (await transcript(context.session, moment.agent_id).catch(() => undefined)) ?? "";
  return { transcript_path: own, agent_transcript_path: agent };
}

type Occasion = {
  readonly input: HookInput;
  readonly site: HookContext;
  readonly told: Set<Hook>;
  readonly heard?: Pick<HookCallContext, "report" | "progress">;
};

async function opinionOf(hook: Hook, occasion: Occasion): Promise<Opinion> {
  if (!hook.detached) return ask(hook, occasion);
  // What goes on by itself does not end with the turn; its own time limit holds.
  void ask(hook, { ...occasion, site: { ...occasion.site, signal: new AbortController().signal } });
  return {};
}

async function ask(hook: Hook, occasion: Occasion): Promise<Opinion> {
  if (!hook.outside) return (await call(hook, occasion)).opinion;
  const { site } = occasion;
  const hookId = site.newId();
  const named = { hookId, name: hook.name, event: hook.event };
  site.show({ type: "hook.started", ...named });
  let said: HookReport = { stdout: "", stderr: "" };
  const { opinion, outcome, isQuiet } = await call(hook, {
    ...occasion,
    heard: {
      report(run) {
        said = run;
      },
      progress: ({ stdout, stderr }) => site.show({ type: "hook.progress", ...named, stdout, stderr }),
    },
  });
  site.show({ type: "hook.finished", ...named, outcome, ...said, ...(isQuiet ? { stdout: "" } : {}) });
  return opinion;
}

type Called = {
  readonly opinion: Opinion;
  readonly outcome: "success" | "error" | "cancelled";
  /** It wants nobody to see what it printed. */
  readonly isQuiet?: boolean;
};

const unheard = { report: () => undefined, progress: () => undefined };

async function call(hook: Hook, occasion: Occasion): Promise<Called> {
  const { input, site, told, heard = unheard } = occasion;
  const { clock, signal } = site;
  const failed = (why: string): Called => ({ opinion: failure(hook, why, occasion), outcome: "error" });
  const cancelled: Called = { opinion: {}, outcome: "cancelled" };
  const ms = Math.min(hook.timeoutMs ?? site.hookMs, site.maxMs ?? Number.POSITIVE_INFINITY);
  const callId = "tool_use_id" in input ? input.tool_use_id : undefined;
  try {
    const timed = await within({ clock, ms, signal }, async (own) =>
      // A copy: hooks must not see what other hooks did to it.
      hook.call(structuredClone(input), {
        callId,
        trace: site.trace,
        signal: own,
        ...heard,
        consult: site.consult,
      }),
    );
    if (timed.kind === "aborted" || (signal.aborted && timed.kind === "late")) return cancelled;
    if (timed.kind === "late") return failed(`it did not answer within ${ms / 1000} s`);
    const read = readOpinion(hook.event, timed.value);
    if (!read.ok) return failed(read.error);
    told.delete(hook);
    const isQuiet = asObject(timed.value)["suppressOutput"] === true;
    return { opinion: bounded(read.value), outcome: "success", isQuiet };
  } catch (thrown) {
    return signal.aborted ? cancelled : failed(toFault(thrown).message);
  }
}

function failure(hook: Hook, why: string, { site, told }: Occasion): Opinion {
  const blocks = hook.onFailure === "block";
  const text = `The ${hook.event} hook ${hook.name} failed${blocks ? "" : " and has no say"}: ${why}`;
  if (!told.has(hook)) site.show({ type: "notice.raised", level: "warning", text, code: "hook_failed" });
  told.add(hook);
  if (!blocks) return {};
  const reason = `The hook ${hook.name} failed, and nothing happens without it.`;
  const objection = readOpinion(hook.event, { decision: "block", reason });
  return objection.ok ? objection.value : {};
}

const bounded = (opinion: Opinion): Opinion =>
  opinion.context === undefined || opinion.context.length <= maxContextCharacters
    ? opinion
    : { ...opinion, context: `${opinion.context.slice(0, maxContextCharacters)}\n(The rest was cut off.)` };

/** A name, several names with `|`, or a pattern; nothing, an empty text or `*` is all. */
export function matches(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true;
  if (/^[\w\s|,-]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject);
  return patternOf(matcher)?.test(subject) ?? false;
}

/** Whether a matcher can be understood; one that cannot never matches. */
export const isMatcher = (matcher: string): boolean =>
  matcher === "" || matcher === "*" || patternOf(matcher) !== undefined;

/** What a matcher is held against. Undefined: the moment has nothing to choose by. */
function subjectOf(moment: HookMoment): string | undefined {
  const field = hookPointOf(moment.hook_event_name)?.matcher;
  const subject = Object.entries(moment).find(([name]) => name === field)?.[1];
  return typeof subject === "string" ? subject : undefined;
}

/** A subject is short and comes from us or is the name of a tool, so a slow pattern harms whoever wrote it. */
function patternOf(matcher: string): RegExp | undefined {
  try {
    return new RegExp(matcher);
  } catch {
    return undefined;
  }
}
