/** Moments and durations as people say them; those that grow are drawn anew by themselves. */
import { type ReactElement, useEffect, useState } from "react";
import { words } from "../words.ts";

/** Now, as often as it is needed. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function Ago({ at }: { readonly at: number }): ReactElement {
  const now = useNow(30_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {words.ago(Math.max(0, now - at))}
    </time>
  );
}

/** How long something has gone on. */
export function Elapsed({ since }: { readonly since: number }): ReactElement {
  const now = useNow(1_000);
  return <span className="figures">{words.elapsed(Math.max(0, now - since))}</span>;
}
