/** `keel runner`: one process for one conversation of a host application. Reads lines, writes lines, and nothing else. */
import { appendFileSync } from "node:fs";
import { openHome } from "../../app/home.ts";
import { inputLines, type LineContext, type Lines, serveLines } from "../../app/lines/line-host.ts";
import { fault } from "../../kernel/fault.ts";
import { Runner } from "./runner.ts";
import { openOptionsOf, type RunnerStart, readStart } from "./start.ts";
import { unaskedWorkspaceTools, workspaceTools } from "./tools/tools.ts";

export type RunnerFlags = {
  readonly start: RunnerStart;
  /** The first line says how to start; flags count where it says nothing. */
  readonly fromInput: boolean;
};

/** Returns the exit code. */
export async function run(flags: RunnerFlags, context: LineContext): Promise<number> {
  const lines = inputLines(context);
  const start = flags.fromInput ? { ...flags.start, ...(await firstLine(lines, context)) } : flags.start;
  const options = openOptionsOf(start, context);
  const { linearIssue, targetBranch } = start;
  const ownTools = workspaceTools({
    cwd: options.cwd,
    env: options.env,
    linearIssue,
    targetBranch,
    history: () => runner.history(),
  });
  const allowedTools = [...(options.allowedTools ?? []), ...unaskedWorkspaceTools];
  const runner = new Runner({
    start,
    home: openHome(options),
    options: { ...options, ownTools, allowedTools },
    out: context.out,
    debug: debugOf(start, context),
  });
  runner.emit({ type: "ready", version: context.version, protocol: 1 });
  return serveLines(runner, lines, context);
}

async function firstLine(lines: Lines, { out }: Pick<LineContext, "out">): Promise<RunnerStart> {
  for (;;) {
    const read = await lines.next();
    if (!read) throw fault("usage", { reason: "The input ended before a line of the type start." });
    const start = readStart(read);
    if (!start) continue;
    if (start.ok) return start.value;
    out.line(JSON.stringify({ type: "error", conversationId: "default", fatal: false, ...start.error }));
  }
}

/** Lines as they go out, for whoever looks for a mistake: on standard error, or in a file for this user alone. */
function debugOf(
  { debug, debugFile }: RunnerStart,
  { err }: Pick<LineContext, "err">,
): ((line: string) => void) | undefined {
  if (debugFile !== undefined) return (line) => appendFileSync(debugFile, `${line}\n`, { mode: 0o600 });
  return debug ? (line) => err.line(line) : undefined;
}
