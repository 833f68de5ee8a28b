// A shell in a directory of its own, for tests with real processes. Whatever a test leaves behind is ended after it.
import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";
import type { Shell, ShellOutcome, ShellRun } from "../../keel/src/ports/shell.ts";
import { groupGuard, type ProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { nodeShell } from "../../keel/src/workspace/processes/shell.ts";

export const plainEnvironment = { PATH: process.env["PATH"], HOME: "/nowhere", LANG: "C.UTF-8" };

export type Run = ShellOutcome & { readonly chunks: readonly string[] };

export type RealShell = {
  readonly cwd: string;
  run(
    text: string,
    how?: {
      timeoutMs?: number;
      maxBytes?: number;
      signal?: AbortSignal;
      shell?: Shell;
      /** For whoever measures memory: what is shown meanwhile is not collected. */
      chunks?: "dropped";
    },
  ): Promise<Run>;
  /** Starts a command and leaves it running. */
  start(text: string, how?: { timeoutMs?: number; maxBytes?: number }): Promise<ShellRun>;
  /** The processes that have this directory as their own, dead ones aside. */
  processes(): number[];
};

/** To be called at the top of a test file or of a block. The guard is closed after the last test. */
export function realShell(guard: ProcessGuard = groupGuard()): RealShell {
  let cwd = "";
  let fresh: Shell | undefined;
  beforeEach(() => {
    cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-shell-")));
    fresh = nodeShell({ env: plainEnvironment, guard });
  });
  afterAll(() => guard.close());
  afterEach(() => {
    killAllIn(cwd);
    rmSync(cwd, { recursive: true, force: true });
  });
  return {
    get cwd() {
      return cwd;
    },
    async run(text, how = {}) {
      const { timeoutMs = 8_000, maxBytes = 100_000, signal = new AbortController().signal } = how;
      const shell = how.shell ?? fresh ?? nodeShell({ env: plainEnvironment, guard });
      const chunks: string[] = [];
      const running = shell.run({ text, cwd, timeoutMs, maxBytes }, signal);
      for (;;) {
        const next = await running.next();
        if (next.done) return { ...next.value, chunks };
        if (how.chunks !== "dropped") chunks.push(next.value.text);
      }
    },
    start(text, { timeoutMs = Number.POSITIVE_INFINITY, maxBytes = 100_000 } = {}) {
      const shell = fresh ?? nodeShell({ env: plainEnvironment, guard });
      return shell.start({ text, cwd, timeoutMs, maxBytes });
    },
    processes: () => processesIn(cwd),
  };
}

/** Ends the processes that have this directory as their own. */
export function killAllIn(directory: string): void {
  for (const pid of processesIn(directory)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Ended while we looked.
    }
  }
}

/** The processes that have this directory as their own. */
export function processesIn(directory: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === directory ? [Number(name)] : [];
    } catch {
      return []; // Ended while we looked.
    }
  });
}
