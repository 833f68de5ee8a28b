/** Some lines of a text, numbered, within bounds, and with notes about what is not shown. */
export type Excerpt = {
  /** `N<TAB>line`, one per line. */
  readonly numbered: string;
  /** The same lines without numbers. */
  readonly content: string;
  readonly startLine: number;
  readonly numLines: number;
  readonly totalLines: number;
  readonly notes: readonly string[];
};

type Bounds = {
  /** The number of the first line. */
  readonly offset: number;
  readonly limit: number;
  readonly mostLineCharacters: number;
  readonly mostCharacters: number;
};

export function excerptOf(text: string, bounds: Bounds): Excerpt {
  const { offset, limit, mostLineCharacters, mostCharacters } = bounds;
  const numbered: string[] = [];
  const content: string[] = [];
  let characters = 0;
  let cutLines = 0;
  let totalLines = 0;
  for (const line of linesOf(text)) {
    totalLines += 1;
    const isWanted = totalLines >= offset && totalLines < offset + limit && characters < mostCharacters;
    if (!isWanted) continue;
    const shown = shortened(line(), mostLineCharacters);
    const row = `${totalLines}\t${shown.text}`;
    characters += row.length + 1;
    // The first line comes in any case: a window of one line must show something.
    if (characters > mostCharacters && content.length > 0) continue;
    cutLines += shown.isCut ? 1 : 0;
    numbered.push(row);
    content.push(shown.text);
  }
  const last = offset + content.length - 1;
  const notes = [
    ...(cutLines > 0
      ? [`Lines longer than ${mostLineCharacters} characters are cut: ${cutLines} here.`]
      : []),
    ...(content.length > 0 && last < totalLines
      ? [`Lines ${offset} to ${last} of ${totalLines}. Go on with offset ${last + 1}.`]
      : []),
  ];
  return {
    numbered: numbered.join("\n"),
    content: content.join("\n"),
    startLine: offset,
    numLines: content.length,
    totalLines,
    notes,
  };
}

/** Every line, without its end; the text itself is cut out only for those who ask. */
function* linesOf(text: string): Generator<() => string> {
  for (let start = 0; ; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const from = start;
    yield () => text.slice(from, text[end - 1] === "\r" && end > from ? end - 1 : end);
    if (found < 0) return;
    start = found + 1;
  }
}

function shortened(line: string, most: number): { text: string; isCut: boolean } {
  if (line.length <= most) return { text: line, isCut: false };
  return { text: `${line.slice(0, most)}… [${line.length - most} more characters]`, isCut: true };
}
