/** The hunks of one file, with what can be done with each, and comments on its lines. */
import type { DiffFile, FileDiff } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useEffect, useMemo, useState } from "react";
import { Virtualizer } from "virtua";
import { DiffWords } from "../displays/diff-display.tsx";
import { type DiffLine, sideBySide, withChanges } from "../displays/diff-lines.ts";
import { Button, IconButton } from "../kit/button.tsx";
import { useMedia } from "../kit/media.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { type DiffComment, isStale } from "./comments.ts";

type ChangeDiff = (question: {
  action: "stage" | "unstage" | "revert";
  path: string;
  hunk?: string;
}) => Promise<void>;

type FileDiffViewProps = {
  readonly worker: string;
  readonly file: DiffFile;
  readonly comments: readonly DiffComment[];
  readonly onComments: (comments: readonly DiffComment[]) => void;
  readonly onChange: ChangeDiff;
};

type Hunk = FileDiff["hunks"][number];
/** The head of a hunk, or one of its lines. */
type DiffItem =
  | { readonly kind: "head"; readonly key: string; readonly hunk: Hunk }
  /** One line, or the two sides of it, of which one may be empty. */
  | { readonly kind: "line"; readonly key: string; readonly sides: readonly (DiffLine | null)[] };

export function FileDiffView({
  worker,
  file,
  comments,
  onComments,
  onChange,
}: FileDiffViewProps): ReactElement {
  const { client, uuid } = useWorld();
  const [diff, setDiff] = useState<FileDiff>();
  const [problem, setProblem] = useState("");
  const [writing, setWriting] = useState<string>();
  const { path, stamp } = file;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another stamp is another content
  useEffect(() => {
    let isWanted = true;
    client.workspaces.fileDiff({ worker, path }).then(
      (found) => isWanted && setDiff(found),
      (thrown: unknown) => isWanted && setProblem(faultOf(thrown).message),
    );
    return () => {
      isWanted = false;
    };
  }, [client, worker, path, stamp]);
  const isWide = useMedia("(min-width: 1100px)");
  const items = useMemo(() => itemsOf(diff, isWide), [diff, isWide]);
  const shown = items.flatMap((item) =>
    item.kind === "line" ? item.sides.filter((line) => line !== null) : [],
  );
  const here = comments.filter((comment) => comment.path === path);
  const isStaged = file.staged === "staged";
  const comment = (line: DiffLine, text: string): void => {
    const side = line.kind === "removed" ? "before" : "after";
    const number = (side === "before" ? line.before : line.after) ?? 0;
    onComments([...comments, { id: uuid(), path, line: number, side, quoted: line.text, text }]);
    setWriting(undefined);
  };
  return (
    <>
      <header className="file-head">
        <code className="one-line">{visible(path)}</code>
        <span className="gap" />
        {file.staged !== "committed" && (
          <>
            <Button
              look="plain"
              onClick={() => void onChange({ action: isStaged ? "unstage" : "stage", path })}
            >
              {isStaged ? words.diffs.unstage : words.diffs.stage}
            </Button>
            <Button look="plain" icon="undo" onClick={() => void onChange({ action: "revert", path })}>
              {words.diffs.revert}
            </Button>
          </>
        )}
      </header>
      {problem !== "" && <p className="problem">{problem}</p>}
      {diff?.binary && <p className="quiet none">{words.diffs.binary}</p>}
      {diff?.omitted !== undefined && <p className="quiet none">{visible(diff.omitted)}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys */}
      <div className="hunks" tabIndex={0}>
        <Virtualizer data={items}>
          {(item: DiffItem) =>
            item.kind === "head" ? (
              <HunkHead
                key={item.key}
                hunk={item.hunk}
                path={path}
                // What can be done with the only one can be done with the file.
                isOnly={diff?.hunks.length === 1}
                onChange={onChange}
              />
            ) : (
              <div key={item.key} className={item.sides.length > 1 ? "hunk-row is-both" : "hunk-row"}>
                {item.sides.map((line, side) =>
                  line === null ? (
                    // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                    <div key={side} className="hunk-line none" />
                  ) : (
                    // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                    <div key={side} className={`hunk-line ${line.kind}`}>
                      <div className="code-line">
                        <IconButton
                          icon="plus"
                          label={words.diffs.commentOn(line.after ?? line.before ?? 0)}
                          onClick={() => setWriting(`${item.key} ${side}`)}
                        />
                        {item.sides.length === 1 && <span className="number">{line.before}</span>}
                        <span className="number">
                          {side === 0 && item.sides.length > 1 ? line.before : line.after}
                        </span>
                        <code>
                          <DiffWords line={line} />
                        </code>
                      </div>
                      {/* A line that is the same on both sides has its comments on the right. */}
                      {(side === item.sides.length - 1 || line.kind === "removed") &&
                        here
                          .filter((one) => isOn(one, line))
                          .map((one) => (
                            <Comment
                              key={one.id}
                              comment={one}
                              isOld={isStale(one, line.text)}
                              onDrop={() => onComments(comments.filter(({ id }) => id !== one.id))}
                            />
                          ))}
                      {writing === `${item.key} ${side}` && (
                        <CommentField
                          onSend={(text) => comment(line, text)}
                          onCancel={() => setWriting(undefined)}
                        />
                      )}
                    </div>
                  ),
                )}
              </div>
            )
          }
        </Virtualizer>
        {here
          .filter((one) => !shown.some((line) => isOn(one, line)))
          .map((one) => (
            <Comment
              key={one.id}
              comment={one}
              isOld
              onDrop={() => onComments(comments.filter(({ id }) => id !== one.id))}
            />
          ))}
      </div>
    </>
  );
}

const isOn = ({ line, side }: DiffComment, { before, after, kind }: DiffLine): boolean =>
  side === "before" ? kind === "removed" && before === line : kind !== "removed" && after === line;

function itemsOf(diff: FileDiff | undefined, isWide: boolean): readonly DiffItem[] {
  return (diff?.hunks ?? []).flatMap((hunk) => {
    const lines = withChanges(
      hunk.lines.map(
        ({ kind, before = null, after = null, text }): DiffLine => ({
          kind,
          before,
          after,
          text,
          changed: null,
        }),
      ),
    );
    const isBoth = isWide && lines.some(({ kind }) => kind === "removed");
    const rows = isBoth
      ? sideBySide(lines).map(({ left, right }) => [left, right])
      : lines.map((line) => [line]);
    return [
      { kind: "head" as const, key: hunk.id, hunk },
      ...rows.map((sides, index) => ({ kind: "line" as const, key: `${hunk.id}:${index}`, sides })),
    ];
  });
}

const HunkHead = ({
  hunk,
  path,
  isOnly,
  onChange,
}: {
  readonly hunk: Hunk;
  readonly path: string;
  readonly isOnly: boolean;
  readonly onChange: ChangeDiff;
}): ReactElement => (
  <div className="hunk-head">
    <code className="one-line">{visible(hunk.head)}</code>
    <span className="gap" />
    {!isOnly && !hunk.committed && (
      <Button
        look="plain"
        onClick={() => void onChange({ action: hunk.staged ? "unstage" : "stage", path, hunk: hunk.id })}
      >
        {hunk.staged ? words.diffs.unstage : words.diffs.stage}
      </Button>
    )}
    {!isOnly && !hunk.staged && !hunk.committed && (
      <Button look="plain" onClick={() => void onChange({ action: "revert", path, hunk: hunk.id })}>
        {words.diffs.revert}
      </Button>
    )}
  </div>
);

const Comment = ({
  comment,
  isOld,
  onDrop,
}: {
  readonly comment: DiffComment;
  readonly isOld: boolean;
  readonly onDrop: () => void;
}): ReactElement => (
  <div className={`comment${isOld ? " is-old" : ""}`}>
    <p>{visible(comment.text)}</p>
    {isOld && <p className="quiet">{words.diffs.stale(visible(comment.quoted.trim()))}</p>}
    <IconButton icon="close" label={words.drop} onClick={onDrop} />
  </div>
);

function CommentField({
  onSend,
  onCancel,
}: {
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}): ReactElement {
  const [text, setText] = useState("");
  const send = (): void => {
    if (text.trim() !== "") onSend(text.trim());
  };
  return (
    <form
      className="comment-field"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        className="input"
        rows={2}
        aria-label={words.diffs.comment}
        placeholder={words.diffs.comment}
        // The person asked for this field.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key !== "Enter" || event.shiftKey) return;
          event.preventDefault();
          send();
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
