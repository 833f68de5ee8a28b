/** Words in all that was said, as the server finds them; asked a moment after the last letter. */
import type { AnswerTo } from "keel/protocol";
import { useEffect, useState } from "react";
import { useWorld } from "../live/world.ts";

export type FoundWords = AnswerTo<"search">["found"][number];

const waitMs = 200;
/** Fewer letters are in everything. */
const leastLetters = 3;
const nothing: AnswerTo<"search"> = { found: [], more: false };

export function useSearch(wanted: string, limit = 20): AnswerTo<"search"> {
  const { client } = useWorld();
  const words = wanted.trim();
  const [answer, setAnswer] = useState({ to: "", ...nothing });
  useEffect(() => {
    if (words.length < leastLetters) return;
    let isWanted = true;
    const timer = setTimeout(() => {
      client.search({ words, limit }).then(
        (found) => isWanted && setAnswer({ to: words, ...found }),
        // Who cannot be asked finds nothing; the list that is here stays.
        () => undefined,
      );
    }, waitMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, words, limit]);
  return answer.to === words ? answer : nothing;
}
