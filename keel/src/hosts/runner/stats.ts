/** What a turn did, counted: a fold of the calls that ended in it, those of its agents included. */
import type * as z from "zod/mini";
import type { ToolFamily } from "../../protocol/tool.ts";
import { familyOf } from "../../protocol/tool-families.ts";
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
