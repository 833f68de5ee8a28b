/** Questions with choices, each of which can also be answered in own words. */
import type { Question } from "keel/protocol";
import { askWords, questionsAnswer, readable } from "keel/view";
import { type ReactElement, useId, useState } from "react";
import { Button } from "../kit/button.tsx";
import { words } from "../words.ts";
import type { AnswerAsk } from "./answer-ask.ts";

type QuestionsFormProps = { readonly questions: readonly Question[]; readonly onAnswer: AnswerAsk };

type Picked = { readonly labels: readonly string[]; readonly own: string };
const nothing: Picked = { labels: [], own: "" };

export function QuestionsForm({ questions, onAnswer }: QuestionsFormProps): ReactElement {
  const [picked, setPicked] = useState<Readonly<Record<string, Picked>>>({});
  const of = (question: Question): Picked => picked[question.question] ?? nothing;
  const put = (question: Question, now: Picked): void => setPicked({ ...picked, [question.question]: now });
  const isAnswered = questions.every((question) => answerOf(question, of(question)) !== undefined);
  const send = (): void => {
    const answers = questions.flatMap((question) => {
      const answer = answerOf(question, of(question));
      return answer === undefined ? [] : [[question.question, answer] as const];
    });
    void onAnswer(questionsAnswer(Object.fromEntries(answers)));
  };
  return (
    <form
      className="questions"
      onSubmit={(event) => {
        event.preventDefault();
        if (isAnswered) send();
      }}
    >
      {questions.map((question) => (
        <OneQuestion
          key={question.question}
          question={question}
          picked={of(question)}
          onPick={(now) => put(question, now)}
        />
      ))}
      <div className="answers">
        <button type="submit" className="button main" disabled={!isAnswered}>
          {words.answer}
        </button>
        <Button look="plain" onClick={() => void onAnswer({ verdict: "deny" })}>
          {words.dontAnswer}
        </Button>
      </div>
    </form>
  );
}

/** Own words count before what is picked, unless several can be. */
function answerOf({ multiSelect }: Question, { labels, own }: Picked): string | string[] | undefined {
  const said = own.trim();
  if (multiSelect) {
    const all = said === "" ? labels : [...labels, said];
    return all.length === 0 ? undefined : [...all];
  }
  return said === "" ? labels[0] : said;
}

function OneQuestion({
  question,
  picked,
  onPick,
}: {
  readonly question: Question;
  readonly picked: Picked;
  readonly onPick: (now: Picked) => void;
}): ReactElement {
  const name = useId();
  const { multiSelect, options } = question;
  const toggle = (label: string): void => {
    if (!multiSelect) return onPick({ labels: [label], own: "" });
    const has = picked.labels.includes(label);
    onPick({
      ...picked,
      labels: has ? picked.labels.filter((one) => one !== label) : [...picked.labels, label],
    });
  };
  return (
    <fieldset className="question">
      <legend>{readable(question.question)}</legend>
      {options.map(({ label, description, preview }) => (
        <label key={label} className="option">
          <input
            type={multiSelect ? "checkbox" : "radio"}
            name={name}
            checked={picked.labels.includes(label)}
            onChange={() => toggle(label)}
          />
          <span>
            <span className="label">{readable(label)}</span>
            <span className="quiet"> {readable(description)}</span>
            {preview !== undefined && <pre className="plain">{readable(preview)}</pre>}
          </span>
        </label>
      ))}
      <input
        className="input"
        aria-label={askWords.ownWords}
        placeholder={askWords.ownWords}
        value={picked.own}
        onChange={({ target }) =>
          onPick({ labels: multiSelect || target.value === "" ? picked.labels : [], own: target.value })
        }
      />
    </fieldset>
  );
}
