import type { Argument } from "../meaning/arguments.ts";

/** `outside` stands for a place that is outside for sure, though no word names it. */
export type WriteTargets = readonly (Argument | "outside")[];

export const fixedWord = (like: Argument | undefined, text: string): Argument => ({
  kind: text.includes("$") ? "unknown" : "fixed",
  text,
  prefix: text,
  name: text,
  mayDivide: false,
  isProcess: false,
  variables: like?.variables ?? [],
  isOpaque: false,
});
