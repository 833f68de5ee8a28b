/** What must hold before a turn ends, and how often that was tried. */
import { readable } from "keel/view";
import type { ReactElement } from "react";
import { Sign } from "../kit/sign.tsx";
import { Ago } from "../kit/time.tsx";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

/** The newest; all of them stand in the conversation. */
const mostTries = 5;

export function GoalPart({ view }: { readonly view: SessionView }): ReactElement | null {
  const { settings, tries } = view.standing;
  const goal = settings?.goal ?? "";
  if (goal === "") return null;
  const last = tries.at(-1);
  return (
    <SideSection name="goal" title={words.side.goal} figure={words.goal.stands(last?.held, last?.try)}>
      <code className="goal">{readable(goal)}</code>
      <ol className="told">
        {tries
          .slice(-mostTries)
          .toReversed()
          .map(({ try: count, held, words: said, at }) => (
            <li key={`${count} ${at}`}>
              <span className="quiet">
                <Sign kind={held ? "done" : "failed"} says={held ? words.goal.holds : words.goal.fails} />{" "}
                {words.goal.try(count)} · <Ago at={at} />
              </span>
              {said.trim() !== "" && <span className="words">{readable(said)}</span>}
            </li>
          ))}
      </ol>
    </SideSection>
  );
}
