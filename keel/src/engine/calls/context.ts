/** What a call may use: while it is looked at and decided about, and while it runs. */

import { askKey } from "../../core/permission-ask.ts";
import type { ToolCall } from "../../core/state/call-state.ts";
import { toolFor, worklistOf } from "../../core/toolbox.ts";
import { toFault } from "../../kernel/fault.ts";
import { deniesReading } from "../../policy/decide.ts";
import { isFolderOfWorkspace } from "../../policy/look.ts";
import type { Tool, ToolContext } from "../../ports/tool.ts";
import type { Files, PathFacts } from "../../ports/workspace.ts";
import { ledgerOf } from "../checkpoint.ts";
import { consultOf } from "../consult.ts";
import type { StepContext } from "../step-context.ts";
import { traceOf } from "../trace-context.ts";
import { look } from "./look.ts";
import { inputOf, type PreparedCall } from "./prepared.ts";

/** `folder`: where commands start; the session's own when left out. */
export function contextFor(
  work: StepContext,
  call: Pick<ToolCall, "use">,
  tool: Tool,
  folder?: string,
): ToolContext {
  const { parts } = work;
  let asked = 0;
  return {
    callId: call.use.id,
    session: parts.log.session,
    workspace: folder === undefined ? parts.workspace : { ...parts.workspace, cwd: folder },
    clock: parts.clock,
    tasks: work.tasks.forCall(call.use.id),
    seen: (path) => work.state.seen.get(path),
    isDenied: (path) =>
      deniesReading(parts.rules, path, {
        roots: parts.workspace.roots,
        home: parts.workspace.commands?.home ?? "/",
      }),
    ask: async (ask) => {
      // Counted, so that the same question gets the same id when the call runs again after a crash.
      const id = `${askKey(parts, call.use.id)}:${++asked}`;
      const { answer, by } = await work.ask({ ...ask, id, callId: call.use.id, tool: tool.name });
      if (answer.verdict === "deny" && answer.interrupt) work.interrupt("answer");
      return { ...answer, by };
    },
    consult: consultOf(work),
    ledger: ledgerOf(work),
    worklist: () => worklistOf(work),
    trace: traceOf(work, call.use.id),
  };
}

/**
 * Where a command of this tool starts, looked at anew for each: undefined in the session's own folder, `gone` where it
 * is no folder of the workspace any more.
 */
export async function startOf(
  work: StepContext,
  tool: Tool,
  folder = work.state.keptFolder,
): Promise<{ readonly folder?: string; readonly gone?: string }> {
  if (tool.family !== "shell" || folder === null) return {};
  const facts = await look(work, tool.name, () => work.parts.workspace.files.describe(folder));
  return isFolderOfWorkspace(facts, folder) ? { folder } : { gone: folder };
}

export async function prepareCall(work: StepContext, call: ToolCall): Promise<PreparedCall> {
  const head = toolFor(work, call.use.name);
  if (!head) return { call, tool: undefined };
  try {
    const tool = await head.load();
    return { call, tool, ...(call.use.broken === undefined ? { input: inputOf(tool, call.use.input) } : {}) };
  } catch (thrown) {
    return { call, tool: toFault(thrown).message };
  }
}

/** With every name so far that was found to lead through links: a tool claims where its path leads, not its name. */
export type LookingContext = ToolContext & { readonly linked?: ReadonlyMap<string, PathFacts> };

/**
 * The same for as long as a call is looked at: a path is walked once, however many want to know what it is. The run has
 * none of this: it asks anew, and works only on what was decided about.
 */
export function rememberingPaths(context: ToolContext): LookingContext {
  const { workspace } = context;
  const { files } = workspace;
  const known = new Map<string, Promise<PathFacts>>();
  const linked = new Map<string, PathFacts>();
  const walk = async (path: string): Promise<PathFacts> => {
    const facts = await files.describe(path);
    if (facts.passed?.length) linked.set(path, facts);
    if (facts.problem === undefined && facts.path !== path)
      known.set(facts.path, Promise.resolve(withoutLinks(facts)));
    return facts;
  };
  const describe = (path: string): Promise<PathFacts> => {
    const facts = known.get(path) ?? walk(path);
    known.set(path, facts);
    return facts;
  };
  const looking: Files = {
    describe,
    expand: (pattern) => files.expand(pattern),
    read: (path, limits) => files.read(path, limits),
    write: (path, bytes, basis) => files.write(path, bytes, basis),
  };
  return { ...context, workspace: { ...workspace, files: looking }, linked };
}

/** What the end of the way is by its own name. */
function withoutLinks({ passed: _, ...facts }: PathFacts): PathFacts {
  return { ...facts, links: false };
}
