/** What the pages of groups share: how one stands, and looking again and again. */
import type { AnswerTo } from "keel/protocol";
import { type ReactElement, useCallback, useEffect, useState } from "react";
import { activitySigns, Sign } from "../kit/sign.tsx";
import { useValue } from "../live/observable.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { words } from "../words.ts";

export type GroupEntry = AnswerTo<"groups">["groups"][number];

/** Somebody may write at any moment, and nothing tells a page: it looks for as long as it is seen. */
const lookMs = 2_000;

/** Asks now, again and again while the page is seen, and whenever it is told to. */
export function useLooked<T>(ask: () => Promise<T>): {
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
    }, lookMs);
    return () => clearInterval(timer);
  }, [look, isThere]);
  return { answer, problem, look };
}

const signs = {
  working: activitySigns.active,
  queued: activitySigns.idle,
  resting: activitySigns.idle,
} as const;

export const GroupSign = ({ state }: Pick<GroupEntry, "state">): ReactElement => (
  <Sign kind={signs[state]} says={words.groups.states[state]} />
);
