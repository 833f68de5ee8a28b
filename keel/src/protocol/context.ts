/** What fills the next request, by kind, as data: every screen shows the same figures. */
export const contextKinds = ["system", "tools", "mcp", "instructions", "skills", "messages"] as const;
export type ContextKind = (typeof contextKinds)[number];

/** Estimates, corrected by the provider's own count of the last request. */
export type ContextBreakdown = {
  readonly model: string;
  readonly windowTokens: number;
  /** From this size on the conversation is shortened by itself; null where it is not. */
  readonly compactAtTokens: number | null;
  readonly totalTokens: number;
  readonly freeTokens: number;
  readonly tokens: Readonly<Record<ContextKind, number>>;
};
