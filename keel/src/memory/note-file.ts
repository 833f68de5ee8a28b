/** A note as a file: a header with its description and type, then its text. */

import { shorten } from "../kernel/text.ts";
import { type Note, type NoteType, noteTypes } from "../ports/memory.ts";

/** A name that is a file name on every system and names nothing else. */
export function nameProblem(name: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    return "A note's name is made of small letters, digits and hyphens, at most 64.";
  return reserved.test(name) ? `${name} cannot be the name of a note.` : undefined;
}
/** The index itself, and what some systems take for a device. */
const reserved = /^(memory|con|prn|aux|nul|com\d|lpt\d)$/;

const maxDescription = 140;
const maxContent = 100_000;

/** One line of it, short enough for the index. */
export const oneLine = (words: string): string => shorten(words.replace(/\s+/g, " ").trim(), maxDescription);

export const noteText = ({ name, type, description, content }: Note): string =>
  `---\nname: ${name}\ndescription: ${JSON.stringify(oneLine(description))}\ntype: ${type}\n---\n\n${content.trim()}\n`;

/** What a person wrote by hand counts too: whatever the header lacks gets a careful meaning. */
export function readNote(name: string, text: string): Note {
  const found = /^---\n([\s\S]{0,4000}?)\n---\n?/.exec(text.replaceAll("\r\n", "\n").slice(0, maxContent));
  const fields = new Map(
    (found?.[1] ?? "").split("\n").flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon > 0 ? [[line.slice(0, colon).trim(), plain(line.slice(colon + 1).trim())]] : [];
    }),
  );
  const content = text.replaceAll("\r\n", "\n").slice(found?.[0].length ?? 0, maxContent);
  const type = noteTypes.find((known): known is NoteType => known === fields.get("type")) ?? "project";
  const description = oneLine(fields.get("description") ?? content.trim().split("\n")[0] ?? "");
  return { name, type, description, content: content.trim() };
}

function plain(value: string): string {
  try {
    const read: unknown = value.startsWith('"') ? JSON.parse(value) : value;
    return typeof read === "string" ? read : value;
  } catch {
    return value;
  }
}

export { maxContent };
