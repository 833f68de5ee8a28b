/** A plan: to read, to comment line by line, and to approve or to send back with the comments. */
import type { Ask } from "keel/protocol";
import { choiceAnswer, readable, visible } from "keel/view";
import { type ReactElement, useState } from "react";
import { Button, IconButton } from "../kit/button.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { words } from "../words.ts";
import type { AnswerAsk } from "./answer-ask.ts";
import { Choices } from "./choices.tsx";

export function PlanAnswer({
  ask,
  onAnswer,
}: {
  readonly ask: Ask;
  readonly onAnswer: AnswerAsk;
}): ReactElement {
  const plan = ask.body.kind === "markdown" || ask.body.kind === "text" ? ask.body.text : "";
  const [isCommenting, setCommenting] = useState(false);
  const [comments, setComments] = useState<ReadonlyMap<number, string>>(new Map());
  const no = ask.options.find(({ verdict }) => verdict === "deny");
  const lines = plan.split("\n");
  const said = [...comments]
    .filter(([, comment]) => comment.trim() !== "")
    .sort(([left], [right]) => left - right);
  const sendBack = (): void => {
    const parts = said.map(([line, comment]) => `On "${(lines[line] ?? "").trim()}": ${comment.trim()}`);
    if (no) void onAnswer(choiceAnswer({ option: no, words: parts.join("\n") }));
  };
  return (
    <div className="plan">
      {isCommenting ? (
        <PlanLines lines={lines} comments={comments} onComment={setComments} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
        <div className="plan-text" tabIndex={0}>
          <Markdown text={readable(plan)} />
        </div>
      )}
      <div className="answers">
        <Button
          look="plain"
          icon="edit"
          aria-pressed={isCommenting}
          onClick={() => setCommenting(!isCommenting)}
        >
          {isCommenting ? words.plan.read : words.plan.comment}
        </Button>
        {said.length > 0 && (
          <Button look="main" onClick={sendBack}>
            {words.plan.sendBack(said.length)}
          </Button>
        )}
      </div>
      {said.length === 0 && <Choices ask={ask} onAnswer={onAnswer} />}
    </div>
  );
}

type PlanLinesProps = {
  readonly lines: readonly string[];
  readonly comments: ReadonlyMap<number, string>;
  readonly onComment: (comments: ReadonlyMap<number, string>) => void;
};

const PlanLines = ({ lines, comments, onComment }: PlanLinesProps): ReactElement => (
  <ol className="plan-lines">
    {lines.map((line, index) =>
      line.trim() === "" ? null : (
        // biome-ignore lint/suspicious/noArrayIndexKey: a plan that is read does not change
        <li key={index}>
          <div className="plan-line">
            <IconButton
              icon="plus"
              label={words.plan.commentOn(index + 1)}
              onClick={() => onComment(new Map(comments).set(index, comments.get(index) ?? ""))}
            />
            <span>{visible(line)}</span>
          </div>
          {comments.has(index) && (
            <textarea
              className="input"
              rows={1}
              // The person asked for this field.
              // biome-ignore lint/a11y/noAutofocus: see above
              autoFocus
              aria-label={words.plan.commentOn(index + 1)}
              value={comments.get(index)}
              onChange={({ target }) => onComment(new Map(comments).set(index, target.value))}
            />
          )}
        </li>
      ),
    )}
  </ol>
);
