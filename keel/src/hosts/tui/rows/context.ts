/** What drawing a row needs to know beside the row. */
import type { MarkdownContext } from "../markdown/inline.ts";

export type RowContext = MarkdownContext & {
  /** Where the session works: paths below it are told without it. */
  readonly cwd: string;
  readonly home: string;
  /** Whether the model's thinking is printed. */
  readonly thinking: "shown" | "hidden";
  /** How many rows of a result are printed; the rest is in the transcript. */
  readonly resultRows: number;
  /** What this screen has said, and what others see it as: nobody is told their own name. */
  readonly own?: { readonly inputs: readonly string[]; readonly name: string | undefined } | undefined;
};

/** A path as people say it: from the folder of the session, or from home. */
export function shortPath(path: string, { cwd, home }: Pick<RowContext, "cwd" | "home">): string {
  if (path === cwd) return ".";
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : fromHome(path, home);
}

export const fromHome = (path: string, home: string): string =>
  home.length > 1 && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
