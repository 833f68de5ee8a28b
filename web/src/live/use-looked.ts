/** What a server is asked again and again while somebody looks, since nothing tells a page of it. */
import { useCallback, useEffect, useState } from "react";
import { useValue } from "./observable.ts";
import { faultOf, useWorld } from "./world.ts";

const lookMs = 2_000;

/** Asks now, again and again while the page is seen, and whenever it is told to. */
export function useLooked<T>(
  ask: () => Promise<T>,
  everyMs = lookMs,
): {
  readonly answer: T | undefined;
  readonly problem: string;
  readonly look: () => Promise<void>;
} {
  const [answer, setAnswer] = useState<T>();
  const [problem, setProblem] = useState("");
  const link = useValue(useWorld().link);
  const look = useCallback(
    () =>
      ask().then(
        (found) => {
          setAnswer(found);
          setProblem("");
        },
        (thrown: unknown) => setProblem(faultOf(thrown).message),
      ),
    [ask],
  );
  const isThere = link.state === "connected";
  useEffect(() => {
    if (!isThere) return;
    void look();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void look();
    }, everyMs);
    return () => clearInterval(timer);
  }, [look, isThere, everyMs]);
  return { answer, problem, look };
}
