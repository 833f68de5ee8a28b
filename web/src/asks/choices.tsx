/** Answers to pick: a button each with its key; a no may be followed by words for the model. */
import type { Ask, AskOption } from "keel/protocol";
import {
  askWords,
  choiceAnswer,
  choicesOf,
  offeredOptions,
  optionLabel,
  type RuleFile,
  ruleWords,
  visible,
} from "keel/view";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { Button } from "../kit/button.tsx";
import { MenuButton } from "../kit/menu.tsx";
import { words } from "../words.ts";
import type { AnswerAsk } from "./answer-ask.ts";

type ChoicesProps = {
  readonly ask: Ask;
  readonly onAnswer: AnswerAsk;
  /** What an allowing choice does instead of answering at once. */
  readonly onAllow?: ((option: AskOption) => void) | undefined;
};

export function Choices({ ask, onAnswer, onAllow }: ChoicesProps): ReactElement {
  const [denying, setDenying] = useState<AskOption>();
  const choices = choicesOf(ask.options);
  const options = offeredOptions(ask);
  const first = options.find(({ verdict }) => verdict === "allow");
  const pick = (option: AskOption, keep?: RuleFile): void => {
    if (option.verdict === "allow" && onAllow) return onAllow(option);
    void onAnswer(choiceAnswer({ option, keep }), keep);
  };
  if (denying) return <SayNo option={denying} onAnswer={onAnswer} onBack={() => setDenying(undefined)} />;
  if (options.length === 0)
    return (
      <div className="answers">
        <p className="quiet">{askWords.unanswerable}</p>
        <Button data-key="backspace" hint="⌫" onClick={() => void onAnswer({ verdict: "deny" })}>
          {askWords.sayNo}
        </Button>
      </div>
    );
  return (
    <div className="answers">
      {options.map((option) => {
        const isYes = option.verdict === "allow";
        const kept = choices.filter(({ option: of, keep }) => keep !== undefined && of === option);
        const letter = choices.find(({ option: of }) => of === option)?.key ?? "";
        const key = option === first ? "enter" : isYes ? letter : "backspace";
        const opensField = !isYes && (ask.kind === "permission" || option.takesWords === true);
        return (
          <span key={option.id} className="answer">
            <Button
              look={option === first ? "main" : undefined}
              data-key={key}
              hint={key === "enter" ? "⏎" : key === "backspace" ? "⌫" : letter.toUpperCase()}
              title={option.preview === undefined ? undefined : askWords.letsThrough(visible(option.preview))}
              onClick={() => (opensField ? setDenying(option) : pick(option))}
            >
              {optionLabel(option, ask.kind)}
            </Button>
            {kept.length > 0 && (
              <MenuButton
                icon="more"
                label={askWords.keepRule(ruleWords(option.rule ?? option.label))}
                items={kept.map(({ keep, label }) => ({ label, onPick: () => pick(option, keep) }))}
              />
            )}
          </span>
        );
      })}
    </div>
  );
}

function SayNo({
  option,
  onAnswer,
  onBack,
}: {
  readonly option: AskOption;
  readonly onAnswer: AnswerAsk;
  readonly onBack: () => void;
}): ReactElement {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = (): void => {
    const said = text.trim();
    void onAnswer(choiceAnswer({ option, ...(said === "" ? {} : { words: said }) }));
  };
  return (
    <form
      className="say-no"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="field">
        <span className="label">{askWords.insteadLabel}</span>
        <textarea
          ref={field}
          className="input"
          rows={2}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") onBack();
            if (event.key !== "Enter" || event.shiftKey) return;
            event.preventDefault();
            send();
          }}
        />
      </label>
      <div className="answers">
        <button type="submit" className="button main">
          {text.trim() === "" ? askWords.sayNo : askWords.sayNoWith}
        </button>
        <Button look="plain" onClick={onBack}>
          {words.back}
        </Button>
      </div>
    </form>
  );
}
