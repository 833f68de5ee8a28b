/** A comment on lines of a diff, and the field that one is written in. */
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Button, IconButton } from "../kit/button.tsx";
import { words } from "../words.ts";
import { type DiffComment, type LineRange, rangeOf } from "./comments.ts";

type LineCommentProps = {
  readonly comment: DiffComment;
  /** Where its lines are now; undefined where they have changed. */
  readonly place: LineRange | undefined;
  /** Of a file that is not shown. */
  readonly path?: string | undefined;
  readonly onDrop: () => void;
};

export const LineComment = ({ comment, place, path, onDrop }: LineCommentProps): ReactElement => (
  <div className={`comment${place ? "" : " is-old"}`}>
    <p className="quiet about">
      {path !== undefined && (
        <>
          <code>{visible(path)}</code>{" "}
        </>
      )}
      {words.diffs.lines(place ?? rangeOf(comment))}
    </p>
    <p>{visible(comment.text)}</p>
    {!place && (
      <>
        <p className="quiet">{words.diffs.stale}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys */}
        <pre className="quiet" tabIndex={0}>
          {visible(comment.quoted)}
        </pre>
      </>
    )}
    <IconButton icon="close" label={words.drop} onClick={onDrop} />
  </div>
);

type CommentFieldProps = {
  readonly range: LineRange;
  /** The lines that it could begin with, the last one included. */
  readonly starts: readonly number[];
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onFrom: (from: number) => void;
  readonly onKeep: () => void;
  readonly onCancel: () => void;
};

export function CommentField({
  range,
  starts,
  text,
  onText,
  onFrom,
  onKeep,
  onCancel,
}: CommentFieldProps): ReactElement {
  const keep = (): void => {
    if (text.trim() !== "") onKeep();
  };
  return (
    <form
      className="comment-field"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <label className="range">
        <span>{words.diffs.fromLine}</span>
        <select className="input" value={range.from} onChange={({ target }) => onFrom(Number(target.value))}>
          {starts.map((number) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
        <span>{words.diffs.toLine(range.to)}</span>
      </label>
      <textarea
        className="input"
        rows={2}
        aria-label={words.diffs.comment(range)}
        placeholder={words.diffs.comment(range)}
        // The person asked for this field.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        value={text}
        onChange={({ target }) => onText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          keep();
        }}
      />
      <div className="answers">
        <button type="submit" className="button main" disabled={text.trim() === ""}>
          {words.diffs.keep}
        </button>
        <Button look="plain" onClick={onCancel}>
          {words.cancel}
        </Button>
      </div>
    </form>
  );
}
