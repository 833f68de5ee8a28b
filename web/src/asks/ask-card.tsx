/** An open question: what it is about, why it is asked, and its answers with their keys. */
import "./asks.css";
import type { Ask } from "keel/protocol";
import { askForm, askOrigin, askTitle } from "keel/view";
import { type KeyboardEvent, lazy, type ReactElement, useId, useLayoutEffect, useRef, useState } from "react";
import { keepFocus } from "../kit/keep-focus.ts";
import { Loaded } from "../kit/loaded.tsx";
import { Sign } from "../kit/sign.tsx";
import { words } from "../words.ts";
import type { AnswerAsk } from "./answer-ask.ts";
import { AskAbout } from "./ask-about.tsx";
import { Choices } from "./choices.tsx";

const FieldsForm = lazy(async () => ({ default: (await import("./fields-form.tsx")).FieldsForm }));
const PlanAnswer = lazy(async () => ({ default: (await import("./plan-answer.tsx")).PlanAnswer }));
const QuestionsForm = lazy(async () => ({ default: (await import("./questions-form.tsx")).QuestionsForm }));

type AskCardProps = {
  readonly ask: Ask;
  readonly session: string;
  readonly cwd: string;
  readonly isReadOnly: boolean;
  readonly onAnswer: AnswerAsk;
};

/** It can be reached by its own key; within it the letters on its buttons answer. */
export function AskCard({ ask, session, cwd, isReadOnly, onAnswer }: AskCardProps): ReactElement {
  const heading = useId();
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  // Whoever was in it goes on to what comes next.
  useLayoutEffect(
    () => () => {
      if (card.current?.contains(document.activeElement)) keepFocus();
    },
    [],
  );
  const send: AnswerAsk = async (answer, keep) => {
    // Its buttons can be pressed no more: the focus waits in the card.
    if (card.current?.contains(document.activeElement)) card.current.focus();
    setSending(true);
    setProblem("");
    try {
      await onAnswer(answer, keep);
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown));
      setSending(false);
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: its legend is a heading that can be jumped to
    <div
      ref={card}
      role="group"
      className={`ask kind-${ask.kind}`}
      aria-labelledby={heading}
      tabIndex={-1}
      data-ask={ask.id}
      onKeyDown={pressButton}
    >
      <h3 id={heading}>
        <Sign kind="asking" />
        <span>{askTitle(ask)}</span>
        {ask.origin && <span className="quiet origin">{askOrigin(ask)}</span>}
      </h3>
      {ask.kind !== "plan" && ask.kind !== "question" && <AskAbout ask={ask} session={session} cwd={cwd} />}
      {isReadOnly ? (
        <p className="quiet">{words.readOnlyAsk}</p>
      ) : (
        <fieldset disabled={isSending}>
          <Loaded meanwhile={<p className="quiet">{words.reading}</p>}>
            <AskAnswers ask={ask} onAnswer={send} />
          </Loaded>
        </fieldset>
      )}
      {problem !== "" && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function AskAnswers({ ask, onAnswer }: { readonly ask: Ask; readonly onAnswer: AnswerAsk }): ReactElement {
  if (ask.kind === "plan") return <PlanAnswer ask={ask} onAnswer={onAnswer} />;
  const form = askForm(ask);
  switch (form.kind) {
    case "choices":
      return <Choices ask={ask} onAnswer={onAnswer} />;
    case "questions":
      return <QuestionsForm questions={form.questions} onAnswer={onAnswer} />;
    case "fields":
      return <FieldsForm ask={ask} form={form} onAnswer={onAnswer} />;
    case "unanswerable":
      return <Choices ask={{ ...ask, options: [] }} onAnswer={onAnswer} />;
  }
}

/** The letter on a button presses it, unless somebody is writing. */
function pressButton(event: KeyboardEvent<HTMLElement>): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  const card = event.currentTarget;
  const buttons = [...card.querySelectorAll<HTMLButtonElement>("button[data-key]")];
  const isOnButton = event.target instanceof HTMLButtonElement;
  const pressed = buttons.find(({ dataset }) => dataset["key"] === event.key.toLowerCase());
  // Enter on a button is that button's.
  if (!pressed || (event.key === "Enter" && isOnButton)) return;
  event.preventDefault();
  event.stopPropagation();
  pressed.click();
}

const isWriting = (target: EventTarget): boolean =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && target.type !== "radio" && target.type !== "checkbox");
