/** Lines of which a person first sees the start or the end, and all of them on demand. */
import { type ReactElement, type ReactNode, useState } from "react";
import { words } from "../words.ts";

type FoldedProps<T> = {
  readonly lines: readonly T[];
  /** How many are shown while it is folded; one or two more are shown anyway. */
  readonly most: number;
  /** Which of them: of an output the end, of a text the start. */
  readonly keep: "start" | "end";
  readonly children: (shown: readonly T[], from: number) => ReactNode;
};

export function Folded<T>({ lines, most, keep, children }: FoldedProps<T>): ReactElement {
  const [isWhole, setWhole] = useState(false);
  const hidden = lines.length - most;
  if (hidden <= 2) return <>{children(lines, 0)}</>;
  const button = (
    <button type="button" className="unfold" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
      {isWhole ? words.showLess : words.showAll(lines.length)}
    </button>
  );
  if (isWhole)
    return (
      <>
        {children(lines, 0)}
        {button}
      </>
    );
  return keep === "start" ? (
    <>
      {children(lines.slice(0, most), 0)}
      {button}
    </>
  ) : (
    <>
      {button}
      {children(lines.slice(hidden), hidden)}
    </>
  );
}
