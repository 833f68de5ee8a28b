/** What the dialect remembers of a session between two events. */
import type { Json } from "../../kernel/json.ts";
import type { ToolFamily } from "../../protocol/tool.ts";
import { familyOf } from "../../protocol/tool-families.ts";
import type { RunnerEvent, RunnerEventOf } from "./events.ts";
import { noParagraphs, type Paragraphs } from "./paragraphs.ts";

export type KnownCall = {
  readonly id: string;
  readonly tool: string;
  readonly params: Json;
  /** Whether the host knows that it began. */
  readonly isTold: boolean;
  /** The whole seconds that were told last. */
  readonly seconds: number;
  readonly agentId?: string | undefined;
  readonly parentToolUseId?: string | undefined;
};

export type RunnerMemo = {
  readonly sessionId: string;
  readonly checkpointing: boolean;
  /** The inputs of the running turn. */
  readonly inputIds: readonly string[];
  readonly paragraphs: Paragraphs;
  /** Whether text of the reply that is being written went out. */
  readonly hasSpoken: boolean;
  readonly stats: RunnerStats;
  readonly calls: ReadonlyMap<string, KnownCall>;
  readonly agents: ReadonlyMap<string, { readonly kind: string; readonly background: boolean }>;
  readonly totalCostUsd: number;
};

/** What the host is told of an event, and what to remember of it. */
export type RunnerDialectOutput = readonly [readonly RunnerEvent[], RunnerMemo];

export const newMemo = (facts: Pick<RunnerMemo, "sessionId" | "checkpointing">): RunnerMemo => ({
  ...facts,
  inputIds: [],
  paragraphs: noParagraphs,
  hasSpoken: false,
  stats: noStats,
  calls: new Map(),
  agents: new Map(),
  totalCostUsd: 0,
});

/** What a turn did: the calls that ended in it, those of its agents included; their time is that of the call above them. */
export type RunnerStats = RunnerEventOf<"result">["stats"];

export const noStats: RunnerStats = {
  toolCalls: 0,
  toolsByType: {},
  subAgents: 0,
  filesRead: 0,
  filesWritten: 0,
  bashCommands: 0,
  webSearches: 0,
  totalToolDurationMs: 0,
};

export function countCall(stats: RunnerStats, { tool, ms }: { tool: string; ms: number }): RunnerStats {
  const family = familyOf(tool);
  const more = (counted: ToolFamily): number => (family === counted ? 1 : 0);
  const before = Object.hasOwn(stats.toolsByType, tool) ? (stats.toolsByType[tool] ?? 0) : 0;
  return {
    toolCalls: stats.toolCalls + 1,
    toolsByType: Object.fromEntries([...Object.entries(stats.toolsByType), [tool, before + 1]]),
    subAgents: stats.subAgents + more("agents"),
    filesRead: stats.filesRead + more("reads"),
    filesWritten: stats.filesWritten + more("edits"),
    bashCommands: stats.bashCommands + more("shell"),
    webSearches: stats.webSearches + more("web"),
    totalToolDurationMs: stats.totalToolDurationMs + ms,
  };
}
