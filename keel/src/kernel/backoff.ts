/** How long to wait before another try: doubling, bounded, with jitter that the caller draws. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number };

/** `tries` failures so far (1 or more); `draw` is a number in [0, 1) that spreads clients by up to a quarter. */
export function delayMs({ firstMs, maxMs }: Backoff, tries: number, draw: number): number {
  const doubled = Math.min(maxMs, firstMs * 2 ** Math.max(0, tries - 1));
  return Math.round(doubled * (1 + draw / 4));
}
