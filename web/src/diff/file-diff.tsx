/** The hunks of one file, with what can be done with each, and comments on its lines. */
import type { DiffFile, FileDiff } from "keel/protocol";
import { visible } from "keel/view";
import { type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import { Virtualizer } from "virtua";
import { DiffWords } from "../displays/diff-display.tsx";
import { type DiffLine, sideBySide, withChanges } from "../displays/diff-lines.ts";
import { Button, IconButton } from "../kit/button.tsx";
import { useMedia } from "../kit/media.ts";
import { faultOf, useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { type DiffComment, type LineRange, placeOf, textOf } from "./comments.ts";
import { CommentField, LineComment } from "./line-comments.tsx";
import { type ChosenRange, sideOf, useRange } from "./use-range.ts";

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
  | {
      readonly kind: "line";
      readonly key: string;
      readonly hunk: string;
      readonly sides: readonly (DiffLine | null)[];
    };

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
  // What is typed stays when other lines are chosen for it.
  const [text, setText] = useState("");
  const choice = useRange();
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
  const placed = useMemo(() => {
    const lines = diff?.hunks.flatMap((hunk) => hunk.lines) ?? [];
    return comments
      .filter((comment) => comment.path === path)
      .map((comment) => ({ comment, place: placeOf(comment, lines) }));
  }, [diff, comments, path]);
  const isStaged = file.staged === "staged";
  const { range } = choice;
  const chosen = diff?.hunks.find(({ id }) => id === range?.hunk);
  // What was meant, as it read when it was last seen: the file may change while somebody writes about it.
  const quoted = useRef("");
  if (range && chosen) quoted.current = textOf(chosen.lines, range);
  const moved = useMemo(
    () => (range && diff && !chosen ? followed(diff.hunks, range, quoted.current) : undefined),
    [range, diff, chosen],
  );
  useEffect(() => {
    if (moved) choice.follow(moved);
  }, [moved, choice.follow]);
  const place = useRef<HTMLDivElement>(null);
  const close = (): void => {
    choice.clear();
    setText("");
    // Back to where the comment was begun.
    if (range) toPlus(place.current, range);
  };
  const keep = (): void => {
    if (!range) return;
    const { side, from, to } = range;
    const about = { path, from, line: to, side, quoted: quoted.current };
    onComments([...comments, { id: uuid(), ...about, text: text.trim() }]);
    close();
  };
  const fieldFor = (of: ChosenRange): ReactElement => (
    <CommentField
      range={of}
      starts={chosen ? startsOf(chosen.lines, of) : [of.from]}
      text={text}
      onText={setText}
      onFrom={choice.startAt}
      onKeep={keep}
      onCancel={close}
    />
  );
  const drop = ({ id, side, line }: DiffComment): void => {
    onComments(comments.filter((comment) => comment.id !== id));
    toPlus(place.current, { side, to: line });
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
      {problem !== "" && <p className="problem">{visible(problem)}</p>}
      {diff?.binary && <p className="quiet none">{words.diffs.binary}</p>}
      {diff?.omitted !== undefined && <p className="quiet none">{visible(diff.omitted)}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys */}
      <div ref={place} className={choice.isDragging ? "hunks is-choosing" : "hunks"} tabIndex={0}>
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
                {item.sides.map((line, column) =>
                  line === null ? (
                    // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                    <div key={column} className="hunk-line none" />
                  ) : (
                    <div
                      // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                      key={column}
                      className={`hunk-line ${line.kind}${isIn(range, item, line) ? " is-chosen" : ""}`}
                      onPointerEnter={() => choice.reach(item.hunk, line)}
                    >
                      <div className="code-line">
                        <IconButton
                          icon="plus"
                          label={words.diffs.commentOn(line[sideOf(line)] ?? 0)}
                          data-line={plusOf(sideOf(line), line[sideOf(line)] ?? 0)}
                          onPointerDown={(event) => choice.press(item.hunk, line, event)}
                          onClick={(event) => choice.click(item.hunk, line, event)}
                        />
                        {item.sides.length === 1 && <span className="number">{line.before}</span>}
                        <span className="number">
                          {column === 0 && item.sides.length > 1 ? line.before : line.after}
                        </span>
                        <code>
                          <DiffWords line={line} />
                        </code>
                      </div>
                      {placed
                        .filter(({ place }) => place && isUnder(place, item, line, column))
                        .map(({ comment, place }) => (
                          <LineComment
                            key={comment.id}
                            comment={comment}
                            place={place}
                            onDrop={() => drop(comment)}
                          />
                        ))}
                      {range?.hunk === item.hunk &&
                        !choice.isDragging &&
                        isUnder(range, item, line, column) &&
                        fieldFor(range)}
                    </div>
                  ),
                )}
              </div>
            )
          }
        </Virtualizer>
        {range && diff && !chosen && !moved && fieldFor(range)}
        {diff &&
          placed
            .filter(({ place }) => !place)
            .map(({ comment }) => (
              <LineComment
                key={comment.id}
                comment={comment}
                place={undefined}
                onDrop={() => drop(comment)}
              />
            ))}
      </div>
    </>
  );
}

const plusOf = (side: LineRange["side"], line: number): string => `${side} ${line}`;

/** The button beside a line has the focus; where it is gone, all of them have. */
function toPlus(place: HTMLElement | null, { side, to }: Pick<LineRange, "side" | "to">): void {
  requestAnimationFrame(() => {
    const plus = place?.querySelector<HTMLElement>(`[data-line="${plusOf(side, to)}"]`);
    (plus ?? place)?.focus({ preventScroll: true });
  });
}

type LineItem = Extract<DiffItem, { kind: "line" }>;

/** A line that is the same on both sides is on the right one, unless somebody counts by the left. */
const isUnder = ({ side, to }: LineRange, { sides }: LineItem, line: DiffLine, column: number): boolean =>
  line[side] === to && (sides.length === 1 || column === (side === "before" ? 0 : 1));

const isIn = (range: ChosenRange | undefined, { hunk }: LineItem, line: DiffLine): boolean => {
  const number = range && line[range.side];
  return range?.hunk === hunk && typeof number === "number" && range.from <= number && number <= range.to;
};

/** The same lines in the hunks as they are now; undefined where no hunk has them. */
function followed(
  hunks: readonly Hunk[],
  { side, from, to }: LineRange,
  quoted: string,
): ChosenRange | undefined {
  for (const { id, lines } of hunks) {
    const place = placeOf({ id: "", path: "", side, from, line: to, quoted, text: "" }, lines);
    if (place) return { ...place, hunk: id };
  }
  return undefined;
}

/** As far up as the hunk goes. */
const startsOf = (lines: Hunk["lines"], { side, to }: LineRange): readonly number[] =>
  lines.flatMap((line) => {
    const number = line[side];
    return number !== undefined && number <= to ? [number] : [];
  });

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
      ...rows.map((sides, index) => ({
        kind: "line" as const,
        key: `${hunk.id}:${index}`,
        hunk: hunk.id,
        sides,
      })),
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
