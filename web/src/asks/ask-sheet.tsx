/** On a phone an open question covers the lower half: what it is about can be scrolled, its answers are large. */
import "./asks.css";
import type { Ask } from "keel/protocol";
import type { ReactElement } from "react";
import { Button } from "../kit/button.tsx";
import { words } from "../words.ts";
import type { AnswerAsk } from "./answer-ask.ts";
import { AskCard } from "./ask-card.tsx";

type AskSheetProps = {
  /** The first of them is shown. */
  readonly asks: readonly Ask[];
  readonly session: string;
  readonly cwd: string;
  readonly onAnswer: (ask: Ask, ...given: Parameters<AnswerAsk>) => Promise<void>;
  readonly onLater: () => void;
};

export function AskSheet({ asks, session, cwd, onAnswer, onLater }: AskSheetProps): ReactElement | null {
  const [ask] = asks;
  if (!ask) return null;
  return (
    <section className="ask-sheet" aria-label={words.rail.asks(asks.length)}>
      <div className="ask-sheet-head">
        <span className="quiet">{asks.length > 1 ? words.inbox.place(1, asks.length) : ""}</span>
        <Button look="plain" onClick={onLater}>
          {words.inbox.later}
        </Button>
      </div>
      <AskCard
        key={ask.id}
        ask={ask}
        session={session}
        cwd={cwd}
        isReadOnly={false}
        onAnswer={(answer, keep) => onAnswer(ask, answer, keep)}
      />
    </section>
  );
}
