/** What happened between words and calls: notices, answers that were given, compactions, the ends of turns. */
import {
  type AskRow,
  askTitle,
  type CompactionRow,
  type NoticeRow,
  optionLabel,
  readable,
  sayCount,
  sayDuration,
  sayReason,
  sayUsd,
  type TurnEndRow,
  visible,
} from "keel/view";
import { lazy, type ReactElement } from "react";
import { DisplayView } from "../displays/display-view.tsx";
import { Icon } from "../kit/icon.tsx";
import { Loaded } from "../kit/loaded.tsx";
import { Sign } from "../kit/sign.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import { type RowProps, useRowActions } from "./row-actions.ts";

const AskCard = lazy(async () => ({ default: (await import("../asks/ask-card.tsx")).AskCard }));

export const NoteRow = ({ row }: RowProps<NoticeRow>): ReactElement => (
  <div className={`note is-${row.level}`}>
    {row.level === "warning" && <Icon name="warning" />}
    {row.display ? <DisplayView display={row.display} /> : <p>{readable(row.text)}</p>}
  </div>
);

export function QuestionRow({ row }: RowProps<AskRow>): ReactElement {
  const { answer, mayAnswer, hasSheet, session, cwd } = useRowActions();
  const { ask, closed } = row;
  if (!closed && hasSheet)
    return (
      <p className="answered">
        <Sign kind="asking" />
        <span className="one-line">{askTitle(ask)}</span>
        <span>{words.inbox.below}</span>
      </p>
    );
  if (!closed)
    return (
      <Loaded meanwhile={<p className="answered">{askTitle(ask)}</p>}>
        <AskCard
          ask={ask}
          session={session}
          cwd={cwd}
          isReadOnly={!mayAnswer}
          onAnswer={(given, keep) => answer(ask, given, keep)}
        />
      </Loaded>
    );
  const option = ask.options.find(({ id }) => id === closed.answer.option);
  const isYes = closed.answer.verdict === "allow";
  return (
    <p className="answered">
      <Sign kind={isYes ? "done" : "denied"} />
      <span className="one-line">{askTitle(ask)}</span>
      <span>
        {option ? optionLabel(option, ask.kind) : isYes ? words.yes : words.no} · {sayWho(closed)}
      </span>
    </p>
  );
}

/** At which client, where it is known. */
const sayWho = ({ by, who }: NonNullable<AskRow["closed"]>): string =>
  who === undefined ? words.answeredBy[by] : words.answeredAt(visible(who));

export function ShortenedRow({ row, isOpen = false, onToggle }: RowProps<CompactionRow>): ReactElement {
  return (
    <div className="shortened">
      <button type="button" className="line" aria-expanded={isOpen} onClick={() => onToggle(row.id, !isOpen)}>
        <span>{words.compacted(sayCount(row.tokensBefore), sayCount(row.tokensAfter))}</span>
      </button>
      {isOpen && (
        <div className="opened">
          <Markdown text={readable(row.summary)} />
        </div>
      )}
    </div>
  );
}

/** A good end is hardly worth a word; any other says what happened and what to do. */
export function TurnEnd({ row }: RowProps<TurnEndRow>): ReactElement {
  const { reason, fault, costUsd, ms } = row;
  const facts = `${sayUsd(costUsd)} · ${sayDuration(ms)}`;
  const isGood = reason === "completed" || reason === "interrupted" || reason === "closed";
  return (
    <div className={`turn-end${isGood ? "" : " is-bad"}`}>
      {isGood ? null : <Sign kind="failed" />}
      <div>
        <p>
          <span>{sayReason(reason)}</span>
          <span className="quiet figures"> · {facts}</span>
        </p>
        {fault && <p className="why">{visible(fault.message)}</p>}
        {!isGood && <p className="quiet">{words.afterFailure}</p>}
      </div>
    </div>
  );
}
