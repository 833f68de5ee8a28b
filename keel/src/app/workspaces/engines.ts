/** Which engine drives which kind of worker: one row each, loaded with its first worker. */
import type { EngineEntry, WorkerKind } from "../../protocol/workspace.ts";
import type { StartWorker } from "./worker.ts";

type Engine = {
  readonly kind: WorkerKind;
  /** Of an agent: what a person can say of a new one. */
  readonly fields?: EngineEntry["fields"];
  readonly load: () => Promise<StartWorker>;
};

const engines: Readonly<Record<string, Engine>> = {
  keel: {
    kind: "agent",
    fields: ["kind", "model", "mode"],
    load: async () => (await import("./keel-agent.ts")).startKeelAgent,
  },
  sdk: {
    kind: "agent",
    fields: ["model", "mode"],
    load: async () => (await import("./sdk-agent.ts")).startSdkAgent,
  },
  acp: {
    kind: "agent",
    fields: ["command", "mode"],
    load: async () => (await import("./acp-agent.ts")).startAcpAgent,
  },
  pty: {
    kind: "agent",
    fields: ["command"],
    load: async () => (await import("./terminal-worker.ts")).startPtyAgent,
  },
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

/** Those that can drive an agent, for whoever makes one: the usual one first. */
export const agentEngines: readonly EngineEntry[] = Object.entries(engines).flatMap(
  ([name, { kind, fields = [] }]) => (kind === "agent" ? [{ name, fields }] : []),
);
