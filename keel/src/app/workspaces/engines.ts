/** Which engine drives which kind of worker: one row each, loaded with its first worker. */
import type { WorkerKind } from "../../protocol/workspace.ts";
import type { StartWorker } from "./worker.ts";

type Engine = { readonly kind: WorkerKind; readonly load: () => Promise<StartWorker> };

const engines: Readonly<Record<string, Engine>> = {
  keel: { kind: "agent", load: async () => (await import("./keel-agent.ts")).startKeelAgent },
  sdk: { kind: "agent", load: async () => (await import("./sdk-agent.ts")).startSdkAgent },
  pty: { kind: "agent", load: async () => (await import("./terminal-worker.ts")).startPtyAgent },
  git: { kind: "diff", load: async () => (await import("./diff-worker.ts")).startDiff },
  shell: { kind: "terminal", load: async () => (await import("./terminal-worker.ts")).startShell },
};

/** What a worker of a kind is driven by where nobody says. */
export const usualEngines: Readonly<Record<WorkerKind, string>> = {
  agent: "keel",
  terminal: "shell",
  diff: "git",
};

/** Undefined for an engine that is not known, or drives another kind. */
export function engineOf({ kind, engine }: { kind: string; engine: string }): Engine | undefined {
  const found = Object.hasOwn(engines, engine) ? engines[engine] : undefined;
  return found?.kind === kind ? found : undefined;
}
