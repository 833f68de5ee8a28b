/** Where a text occurs in another, with the line ends of the file and not of whoever asks. */

/** The line end that most lines have. */
export function lineEnd(text: string): "\n" | "\r\n" {
  const windows = countOf(text, "\r\n");
  // Most files have none, and then nothing else has to be counted.
  return windows > 0 && windows * 2 > countOf(text, "\n") ? "\r\n" : "\n";
}

/** All places that do not overlap. In a file with CRLF a wanted text with plain line feeds is found too. */
export function findOccurrences(
  text: string,
  wanted: string,
  end: "\n" | "\r\n",
): { found: string; places: number[] } {
  const exact = occurrencesOf(text, wanted);
  if (exact.length > 0 || end === "\n") return { found: wanted, places: exact };
  const found = wanted.replace(/\r?\n/g, end);
  return { found, places: occurrencesOf(text, found) };
}

/** The number of the line in which a position lies. */
export const lineOf = (text: string, at: number): number => countOf(text.slice(0, at), "\n") + 1;

function occurrencesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

export function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}
