/**
 * A text that grows, as parts that do not: each is Markdown that can be read by itself, and only the last one changes
 * when more text comes. What was parted once is not looked at again.
 */

export type Parted = {
  /** All but the last are as they stay. */
  readonly parts: readonly string[];
  /** Where the last part begins in the text. */
  readonly from: number;
};

export const noParts: Parted = { parts: [], from: 0 };

/** `before` is of a text that this one begins with. */
export function partText(text: string, before: Parted = noParts): Parted {
  const parts = before.parts.slice(0, -1);
  let from = before.from;
  let fence = "";
  let lineStart = from;
  let isBlank = false;
  for (let at = from; at <= text.length; at += 1) {
    if (at < text.length && text.charCodeAt(at) !== 10) continue;
    const line = text.slice(lineStart, at);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "" && isBlank && line.trim() !== "" && !/^\s/.test(line)) {
      parts.push(text.slice(from, lineStart));
      from = lineStart;
    }
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    isBlank = line.trim() === "";
    lineStart = at + 1;
  }
  return { parts: [...parts, text.slice(from)], from };
}
