/** What a turn did, counted: a fold of the calls that ended in it, those of its agents included. */
import type * as z from "zod/mini";
import type { statsSchema } from "./events.ts";

export type RunnerStats = z.infer<typeof statsSchema>;

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

const counted = {
  subAgents: ["Agent", "Task"],
  filesRead: ["Read", "Glob", "Grep"],
  filesWritten: ["Write", "Edit", "MultiEdit", "NotebookEdit"],
  bashCommands: ["Bash"],
  webSearches: ["WebSearch", "WebFetch"],
} as const satisfies Partial<Record<keyof RunnerStats, readonly string[]>>;

export function countCall(stats: RunnerStats, { tool, ms }: { tool: string; ms: number }): RunnerStats {
  const more = (names: readonly string[]): number => (names.includes(tool) ? 1 : 0);
  const before = Object.hasOwn(stats.toolsByType, tool) ? (stats.toolsByType[tool] ?? 0) : 0;
  return {
    toolCalls: stats.toolCalls + 1,
    toolsByType: Object.fromEntries([...Object.entries(stats.toolsByType), [tool, before + 1]]),
    subAgents: stats.subAgents + more(counted.subAgents),
    filesRead: stats.filesRead + more(counted.filesRead),
    filesWritten: stats.filesWritten + more(counted.filesWritten),
    bashCommands: stats.bashCommands + more(counted.bashCommands),
    webSearches: stats.webSearches + more(counted.webSearches),
    totalToolDurationMs: stats.totalToolDurationMs + ms,
  };
}
