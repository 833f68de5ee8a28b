/** The lines that somebody means to comment on: one by a click, more by dragging or with Shift, each within one hunk. */
import type { MouseEvent, PointerEvent } from "react";
import { useEffect, useRef, useState } from "react";
import type { DiffLine } from "../displays/diff-lines.ts";
import type { LineRange, LineSide } from "./comments.ts";

export type ChosenRange = LineRange & { readonly hunk: string };

/** A removed line is counted by the old file, any other by the new one. */
export const sideOf = ({ kind }: DiffLine): LineSide => (kind === "removed" ? "before" : "after");

type RangeChoice = {
  readonly range: ChosenRange | undefined;
  /** It still grows: what covers lines would be in the way. */
  readonly isDragging: boolean;
  /** Of the button beside a line. */
  press(hunk: string, line: DiffLine, event: PointerEvent): void;
  click(hunk: string, line: DiffLine, event: MouseEvent): void;
  /** Of the line itself, while somebody drags. */
  reach(hunk: string, line: DiffLine): void;
  startAt(from: number): void;
  /** The same lines, which stand elsewhere now. */
  follow(range: ChosenRange): void;
  clear(): void;
};

export function useRange(): RangeChoice {
  const [range, setRange] = useState<ChosenRange>();
  const [isDragging, setDragging] = useState(false);
  const anchor = useRef<ChosenRange>(undefined);
  useEffect(() => {
    if (!isDragging) return;
    const end = (): void => setDragging(false);
    window.addEventListener("pointerup", end);
    return () => window.removeEventListener("pointerup", end);
  }, [isDragging]);
  const one = (hunk: string, line: DiffLine): ChosenRange => {
    const side = sideOf(line);
    const number = line[side] ?? 0;
    return { hunk, side, from: number, to: number };
  };
  /** From the first line that was meant to this one; undefined where no one side has both. */
  const reached = (hunk: string, line: DiffLine): ChosenRange | undefined => {
    const first = anchor.current;
    const number = first && line[first.side];
    if (!first || first.hunk !== hunk || number === null || number === undefined) return undefined;
    return { ...first, from: Math.min(first.from, number), to: Math.max(first.to, number) };
  };
  const begin = (hunk: string, line: DiffLine): void => {
    anchor.current = one(hunk, line);
    setRange(anchor.current);
  };
  return {
    range,
    isDragging,
    press(hunk, line, event) {
      // A finger scrolls; it says the first line in the field.
      if (event.pointerType !== "mouse" || event.button !== 0 || event.shiftKey) return;
      begin(hunk, line);
      setDragging(true);
    },
    click(hunk, line, event) {
      const longer = event.shiftKey ? reached(hunk, line) : undefined;
      if (longer) setRange(longer);
      else begin(hunk, line);
    },
    reach(hunk, line) {
      if (isDragging) setRange((before) => reached(hunk, line) ?? before);
    },
    follow: setRange,
    startAt: (from) => setRange((before) => before && { ...before, from }),
    clear() {
      anchor.current = undefined;
      setRange(undefined);
    },
  };
}
