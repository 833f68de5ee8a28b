/** What the dialect remembers of a session between two events. */
import type { Json } from "../../kernel/json.ts";
import { noParagraphs, type Paragraphs } from "./paragraphs.ts";
import { noStats, type RunnerStats } from "./stats.ts";

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
  readonly agents: ReadonlyMap<string, string>;
  readonly hasSaved: boolean;
  readonly totalCostUsd: number;
};

export const newMemo = (facts: Pick<RunnerMemo, "sessionId" | "checkpointing">): RunnerMemo => ({
  ...facts,
  inputIds: [],
  paragraphs: noParagraphs,
  hasSpoken: false,
  stats: noStats,
  calls: new Map(),
  agents: new Map(),
  hasSaved: false,
  totalCostUsd: 0,
});
