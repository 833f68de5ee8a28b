/** How long a provider asks us to wait, bounded: a server must not be able to put a session to sleep for a day. */

/** Longer waits are for a person to decide about; the retries before that are few. */
export const maxRetryAfterMs = 5 * 60_000;

/** Reads `retry-after-ms`, and `retry-after` as seconds or as a date. Undefined when neither says anything usable. */
export function retryAfterMs(
  header: (name: string) => string | undefined,
  nowMs: number,
): number | undefined {
  const exact = amount(header("retry-after-ms"));
  if (exact !== undefined) return bounded(exact);
  const text = header("retry-after");
  const seconds = amount(text);
  if (seconds !== undefined) return bounded(seconds * 1000);
  const date = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : bounded(date - nowMs);
}

function amount(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,12}(?:\.\d{1,6})?\s*$/.test(text) ? Number(text) : undefined;
}

const bounded = (ms: number): number => Math.min(maxRetryAfterMs, Math.max(0, Math.round(ms)));
