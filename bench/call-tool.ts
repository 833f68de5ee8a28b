/** Calls a tool as the engine does, without a session around it: check, claims, run. */
import type { CallTasks } from "../keel/src/ports/tasks.ts";
import type { Tool, ToolContext, ToolOutcome } from "../keel/src/ports/tool.ts";
import type { Workspace } from "../keel/src/ports/workspace.ts";
import { nodeDocuments } from "../keel/src/workspace/files/documents.ts";
import { nodeFiles } from "../keel/src/workspace/files/files.ts";
import { openProcessGuard } from "../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../keel/src/workspace/processes/shell.ts";
import { nodeSearch } from "../keel/src/workspace/search/search.ts";

export type BenchWorkspace = { readonly workspace: Workspace; close(): Promise<void> };

/** `path` is where programs are looked for. */
export function openWorkspace({ cwd, path }: { cwd: string; path: string }): BenchWorkspace {
  const env = { PATH: path };
  const roots = [cwd];
  const guard = openProcessGuard({ env });
  const search = nodeSearch({ env });
  const shell = nodeShell({ env, guard });
  const workspace = {
    cwd,
    roots,
    files: nodeFiles({ cwd, roots }),
    search,
    documents: nodeDocuments(),
    shell,
  };
  return { workspace, close: () => guard.close() };
}

export type Call = <I>(tool: Tool<I>, input: unknown) => Promise<ToolOutcome>;

export function callerIn(workspace: Workspace): Call {
  const seen = new Map<string, string>();
  return async (tool, input) => {
    const outcome = await callOnce(tool, input, contextIn(workspace, seen));
    for (const file of outcome.seen ?? []) seen.set(file.path, file.stamp);
    if (outcome.failed) throw new Error(`${tool.name} failed: ${JSON.stringify(outcome.content)}`);
    return outcome;
  };
}

async function callOnce<I>(tool: Tool<I>, input: unknown, context: ToolContext): Promise<ToolOutcome> {
  const parsed = tool.input.parse(input);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const complaint = await tool.check(parsed.value, context);
  if (complaint !== undefined) throw new Error(complaint);
  const decided = await tool.claims(parsed.value, context);
  for (const { target } of decided) await context.workspace.files.describe(target);
  const running = tool.run(parsed.value, { ...context, decided }, new AbortController().signal);
  for (;;) {
    const next = await running.next();
    if (next.done) return next.value;
  }
}

function contextIn(workspace: Workspace, seen: ReadonlyMap<string, string>): ToolContext {
  return {
    callId: "call",
    session: "session",
    workspace,
    clock: { now: () => Date.now(), monotonicMs: () => performance.now(), sleep: async () => undefined },
    tasks: noTasks,
    seen: (file) => seen.get(file),
    ask: () => Promise.reject(new Error("Nothing is asked here.")),
    worklist: () => {
      throw new Error("The tools that are measured know nothing of a session.");
    },
  };
}

const noTasks: CallTasks = {
  start: () => Promise.reject(new Error("Nothing runs in the background here.")),
  move: async () => undefined,
  tell: () => undefined,
  sentAway: () => new Promise(() => undefined),
  list: () => [],
  find: () => undefined,
  output: () => undefined,
  wait: async () => undefined,
  stop: async () => undefined,
};
