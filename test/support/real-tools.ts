// Tools called as the engine calls them, on a real directory with real processes.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { Clock } from "../../keel/src/ports/clock.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../keel/src/ports/tool.ts";
import type { Claim, Display } from "../../keel/src/protocol/tool.ts";
import type { TaskBoard } from "../../keel/src/tasks/board.ts";
import { type RealTasks, realTasks } from "./real-tasks.ts";
import { realWorkspace } from "./real-workspace.ts";

export type Call = ToolOutcome & {
  /** The text that the model sees. */
  readonly said: string;
  readonly shown: readonly Display[];
  /** The check refused it: nothing was claimed and nothing ran. */
  readonly refused: boolean;
  readonly claims: readonly Claim[];
};

export type RealTools = {
  readonly cwd: string;
  put(name: string, content: string | Uint8Array): void;
  get(name: string): string;
  /** The tasks of the session that the tools believe to be in. */
  readonly tasks: RealTasks;
  /** `between` happens after the decision and before the run. */
  call<I>(tool: Tool<I>, input: unknown, how?: { signal?: AbortSignal; between?: () => void }): Promise<Call>;
};

/** For tools that wait for nothing. */
const stillClock: Clock = { now: () => 0, monotonicMs: () => 0, sleep: async () => undefined };

/** To be called at the top of a test file. Every test starts in an empty directory and has read nothing. */
export function realTools({ clock = stillClock }: { readonly clock?: Clock } = {}): RealTools {
  let cwd = "";
  let tasks = realTasks(() => cwd);
  const seen = new Map<string, string>();
  beforeEach(() => {
    cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-tools-")));
    seen.clear();
    tasks = realTasks(() => cwd);
  });
  afterEach(async () => {
    await tasks.board.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  return {
    get cwd() {
      return cwd;
    },
    get tasks() {
      return tasks;
    },
    put(name, content) {
      mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
      writeFileSync(path.join(cwd, name), content);
    },
    get: (name) => readFileSync(path.join(cwd, name), "utf8"),
    async call(tool, sent, { signal = new AbortController().signal, between = () => undefined } = {}) {
      const context = contextIn(cwd, { seen, board: tasks.board, clock });
      const parsed = tool.input.parse(sent);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
      const complaint = await tool.check(parsed.value, context);
      if (complaint !== undefined) return refusal(complaint);
      const claims = await tool.claims(parsed.value, context);
      between();
      const shown: Display[] = [];
      const running = tool.run(parsed.value, { ...context, decided: claims }, signal);
      for (;;) {
        const next = await running.next();
        if (!next.done) {
          shown.push(next.value);
          continue;
        }
        for (const file of next.value.seen ?? []) seen.set(file.path, file.stamp);
        return { ...next.value, said: wordsOf(next.value), shown, refused: false, claims };
      }
    },
  };
}

function contextIn(
  cwd: string,
  { seen, board, clock }: { seen: ReadonlyMap<string, string>; board: TaskBoard; clock: Clock },
): ToolContext {
  const roots = [cwd];
  return {
    callId: "call-1",
    session: "session-1",
    workspace: realWorkspace({ cwd, roots }),
    clock,
    tasks: board.forCall("call-1"),
    seen: (file) => seen.get(file),
    ask: () => Promise.reject(new Error("These tools ask nothing.")),
    worklist: () => ({
      todos: [],
      lastTodo: 0,
      mode: "default",
      planFile: undefined,
      offered: [],
      deferred: [],
    }),
  };
}

function refusal(said: string): Call {
  const content: ToolOutcome["content"] = [{ type: "text", text: said }];
  return {
    content,
    display: { kind: "text", text: said },
    failed: true,
    said,
    shown: [],
    refused: true,
    claims: [],
  };
}

const wordsOf = ({ content }: ToolOutcome): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
