/** What changed in a file: in one column, or old and new beside each other where there is room. */
import type { Display } from "keel/protocol";
import { readable } from "keel/view";
import { Fragment, type ReactElement, useMemo, useState } from "react";
import { useMedia } from "../kit/media.ts";
import { useWorld } from "../live/world.ts";
import { words } from "../words.ts";
import { type DiffLine, linesOfHunk, sideBySide } from "./diff-lines.ts";
import { Folded } from "./folded.tsx";

type DiffProps = { readonly display: Extract<Display, { kind: "diff" }> };

const mostLines = 24;

/** One list of all lines, with `null` where a hunk begins. */
export function DiffDisplay({ display }: DiffProps): ReactElement {
  const { notes } = useWorld();
  const isWide = useMedia("(min-width: 1100px)");
  const [isBoth, setBoth] = useState(() => notes.getItem(bothNote) !== "one");
  const hunks = useMemo(() => display.hunks.map((hunk) => linesOfHunk(hunk)), [display.hunks]);
  if (hunks.length === 0) return <p className="quiet">{words.noChanges}</p>;
  const hasBoth = isWide && hunks.some((lines) => lines.some(({ kind }) => kind === "removed"));
  const toggle = (): void => {
    notes.setItem(bothNote, isBoth ? "one" : "both");
    setBoth(!isBoth);
  };
  return (
    <div className={hasBoth && isBoth ? "diff-display is-wide" : "diff-display"}>
      {hasBoth && isBoth ? <TwoColumns hunks={hunks} /> : <OneColumn hunks={hunks} />}
      {hasBoth && (
        <button type="button" className="unfold" aria-pressed={isBoth} onClick={toggle}>
          {isBoth ? words.inOneColumn : words.sideBySide}
        </button>
      )}
    </div>
  );
}

/** Chosen once, for all diffs to come. */
const bothNote = "keel.diff";

const withHeads = <T,>(hunks: readonly (readonly T[])[]): readonly (T | null)[] =>
  hunks.flatMap((lines, index): (T | null)[] => (index === 0 ? [...lines] : [null, ...lines]));

const OneColumn = ({ hunks }: { readonly hunks: readonly (readonly DiffLine[])[] }): ReactElement => (
  <Folded lines={withHeads(hunks)} most={mostLines} keep="start">
    {(shown) => (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
      <figure className="diff" tabIndex={0} aria-label={words.diff}>
        <table>
          <tbody>
            {shown.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines are those of one hunk
              <Fragment key={index}>
                {line === null ? (
                  <Gap columns={2} />
                ) : (
                  <tr className={line.kind}>
                    <th scope="row">{line.after ?? line.before}</th>
                    <DiffCell line={line} />
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </figure>
    )}
  </Folded>
);

const TwoColumns = ({ hunks }: { readonly hunks: readonly (readonly DiffLine[])[] }): ReactElement => (
  <Folded lines={withHeads(hunks.map(sideBySide))} most={mostLines} keep="start">
    {(shown) => (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be reached by keys
      <figure className="diff both" tabIndex={0} aria-label={words.diff}>
        <table>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines are those of one hunk
              <Fragment key={index}>
                {row === null ? (
                  <Gap columns={4} />
                ) : (
                  <tr>
                    <Side line={row.left} number={row.left?.before ?? null} />
                    <Side line={row.right} number={row.right?.after ?? null} />
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </figure>
    )}
  </Folded>
);

const Side = ({
  line,
  number,
}: {
  readonly line: DiffLine | null;
  readonly number: number | null;
}): ReactElement =>
  line ? (
    <>
      <th className={line.kind}>{number}</th>
      <DiffCell line={line} />
    </>
  ) : (
    <>
      <td className="none" />
      <td className="none" />
    </>
  );

const Gap = ({ columns }: { readonly columns: number }): ReactElement => (
  <tr className="gap">
    <td colSpan={columns}>⋯</td>
  </tr>
);

const signs = { added: "+", removed: "−", same: " " } as const;

const DiffCell = ({ line }: { readonly line: DiffLine }): ReactElement => (
  <td className={line.kind}>
    <DiffWords line={line} />
  </td>
);

export function DiffWords({ line }: { readonly line: DiffLine }): ReactElement {
  const { kind, text, changed } = line;
  return (
    <>
      <span className="mark" aria-label={words.lineKinds[kind]} role="img">
        {signs[kind]}
      </span>
      {changed && changed[1] > changed[0] ? (
        <>
          {readable(text.slice(0, changed[0]))}
          <mark>{readable(text.slice(changed[0], changed[1]))}</mark>
          {readable(text.slice(changed[1]))}
        </>
      ) : (
        readable(text)
      )}
    </>
  );
}
