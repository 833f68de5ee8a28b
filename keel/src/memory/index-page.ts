/** The index of notes: one line each, and a bound in lines and in bytes, whichever is met first, with a word about it. */

export const maxLines = 200;
export const maxBytes = 25_000;

/** The index as the model reads it. */
export function bounded(text: string): string {
  const lines = text.split("\n");
  const bytes = new TextEncoder().encode(text).length;
  if (lines.length <= maxLines && bytes <= maxBytes) return text;
  const room = maxBytes - 200;
  const kept: string[] = [];
  let used = 0;
  for (const line of lines.slice(0, maxLines)) {
    used += new TextEncoder().encode(line).length + 1;
    if (used > room) break;
    kept.push(line);
  }
  const why = lines.length > maxLines ? `${maxLines} lines` : `${maxBytes} bytes`;
  return `${kept.join("\n")}\n\nWARNING: the index is longer than ${why}; the rest is left out here. Shorten it: one line for each note.`;
}

/** A line of its own for the note, in place of its older one. */
export function withLine(index: string, note: { name: string; description: string; type: string }): string {
  const line = `- [${note.name}](${note.name}.md) (${note.type}): ${note.description}`;
  const lines = index === "" ? [] : index.split("\n");
  const at = lines.findIndex((old) => nameIn(old) === note.name);
  if (at >= 0) lines[at] = line;
  else {
    while (lines.length > 0 && lines.at(-1)?.trim() === "") lines.pop();
    lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}

/** The note that a line is about. */
export const nameIn = (line: string): string | undefined => /\]\(([a-z0-9-]{1,64})\.md\)/.exec(line)?.[1];
