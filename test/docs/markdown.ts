// The few things that the rules need to know of a page: its links, its code, its headings.

export type Link = { readonly target: string; readonly line: number };
export type Code = { readonly text: string; readonly line: number };

/** `[words](target)` outside of code. */
export function linksIn(text: string): Link[] {
  return eachLine(text, "prose").flatMap(({ words, line }) =>
    [...withoutCode(words).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({ target, line })),
  );
}

/** What stands between backticks inside of prose, without the fenced blocks. */
export function inlineCode(text: string): Code[] {
  return eachLine(text, "prose").flatMap(({ words, line }) =>
    [...words.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => ({ text: code, line })),
  );
}

/** Inline code and the lines of fenced blocks. */
export function allCode(text: string): Code[] {
  const fenced = eachLine(text, "fenced").map(({ words, line }) => ({ text: words, line }));
  return [...inlineCode(text), ...fenced];
}

/** The anchors that headings get where such pages are shown. */
export function anchorsIn(text: string): string[] {
  return eachLine(text, "prose").flatMap(({ words }) => {
    const [, heading] = /^#{1,6} (.+)$/.exec(words) ?? [];
    return heading === undefined ? [] : [anchorOf(heading)];
  });
}

/** The part of a page under a heading, up to the next heading of the same or a higher level; empty when there is none. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.replace(/^#+ /, "") === heading && line.startsWith("#"));
  if (start < 0) return "";
  const level = /^#+/.exec(lines[start] ?? "")?.[0].length ?? 1;
  const isNext = (line: string) => new RegExp(`^#{1,${level}} `).test(line);
  const length = lines.slice(start + 1).findIndex(isNext);
  return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join("\n");
}

function eachLine(text: string, kind: "prose" | "fenced"): { words: string; line: number }[] {
  let inFence = false;
  return text.split("\n").flatMap((words, index) => {
    const isFence = /^\s*```/.test(words);
    if (isFence) inFence = !inFence;
    const isWanted = !isFence && inFence === (kind === "fenced");
    return isWanted ? [{ words, line: index + 1 }] : [];
  });
}

const withoutCode = (words: string): string => words.replace(/`[^`]*`/g, "``");

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
