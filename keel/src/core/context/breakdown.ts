/** What fills the next request, by kind: a projection of the state. */
import { estimateTokens } from "../../kernel/text.ts";
import type { ModelInfo } from "../../protocol/usage.ts";
import { type ContextBreakdown, type ContextKind, contextKinds } from "../../protocol/usage.ts";
import { type Limits, limitsFor } from "../limits.ts";
import { modelOf, type SessionState } from "../state/state.ts";

export function breakdownOf(
  state: SessionState,
  { info, limits, next }: { info: ModelInfo; limits: Limits; next?: SessionState["prompt"] | undefined },
): ContextBreakdown {
  const { tally, shares } = state;
  // Before the first request: what it will start with.
  const prompt = state.prompt ?? next;
  const size = (value: unknown): number => estimateTokens(JSON.stringify(value));
  const [own, foreign] = [false, true].map((isForeign) =>
    (prompt?.tools ?? []).filter(({ name }) => name.startsWith(mcpPrefix) === isForeign),
  );
  const rough: Record<ContextKind, number> = {
    system: prompt ? size(prompt.system) : 0,
    tools: own && own.length > 0 ? size(own) : 0,
    mcp: foreign && foreign.length > 0 ? size(foreign) : 0,
    ...shares,
    messages: Math.max(0, tally.estimate - tally.promptEstimate - shares.instructions - shares.skills),
  };
  const sum = contextKinds.reduce((total, kind) => total + rough[kind], 0);
  // Before the first reply nobody has counted anything.
  const totalTokens = Math.round(state.contextTokens || sum);
  // The parts are estimates, the whole was counted: together they are right.
  const scale = sum > 0 ? totalTokens / sum : 0;
  const tokens = Object.fromEntries(
    contextKinds.map((kind) => [kind, Math.round(rough[kind] * scale)]),
  ) as Record<ContextKind, number>;
  const { compactAtTokens } = limitsFor(limits, info);
  return {
    model: modelOf(state),
    windowTokens: info.windowTokens,
    compactAtTokens: Number.isFinite(compactAtTokens) ? compactAtTokens : null,
    totalTokens,
    freeTokens: Math.max(0, info.windowTokens - totalTokens),
    tokens,
  };
}

const mcpPrefix = "mcp__";
