/**
 * Notes in a folder: `MEMORY.md`, the index, and one file for each topic. A person may write there too, and keep it
 * under version control. A note that the index lacks is added when it is read, so that writers at once lose nothing.
 */
import { lstat, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseJson } from "../kernel/json.ts";
import { byteLength, shorten } from "../kernel/text.ts";
import { type Memory, type Note, type NoteType, noteTypes } from "../ports/memory.ts";

const indexName = "MEMORY.md";
/** More topics than an index of 200 lines can name are not looked at. */
const maxNotes = 1_000;
/** Far above what the model sees of it: enough to add a line to. */
const maxIndexBytes = 1_000_000;

export function fileMemory({ folder, uuid }: { folder: string; uuid: () => string }): Memory {
  let index: Promise<string> | undefined;
  const fileOf = (name: string): string => path.join(folder, name);

  const readIndex = async (): Promise<string> => {
    let text = (await readText(fileOf(indexName), maxIndexBytes)) ?? "";
    const listed = new Set(text.split("\n").map(nameIn));
    for (const name of await topics(folder)) {
      if (listed.has(name)) continue;
      const note = await readText(fileOf(`${name}.md`), maxContent);
      if (note !== undefined) text = withLine(text, readNote(name, note));
    }
    return bounded(text.trim());
  };

  const write = async (name: string, text: string): Promise<void> => {
    const temporary = fileOf(`.${name}.${uuid()}`);
    try {
      await writeFile(temporary, text, { flag: "wx", mode: 0o600, flush: true });
      await rename(temporary, fileOf(name));
    } catch (thrown) {
      await rm(temporary, { force: true });
      throw thrown;
    }
  };

  return {
    place: folder,
    index() {
      index ??= readIndex();
      return index;
    },
    async recall(query, most) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const found: { note: Note; score: number }[] = [];
      for (const name of await topics(folder)) {
        const text = await readText(fileOf(`${name}.md`), maxContent);
        if (text === undefined) continue;
        const note = readNote(name, text);
        const score = scoreOf(note, words);
        if (words.length === 0 || score > 0) found.push({ note, score });
      }
      return found
        .sort((left, right) => right.score - left.score || (left.note.name < right.note.name ? -1 : 1))
        .slice(0, most)
        .map(({ note }) => note);
    },
    async remember(note) {
      const why = nameProblem(note.name);
      if (why !== undefined) return { ok: false, why };
      if (note.content.length > maxContent)
        return { ok: false, why: `A note has at most ${maxContent} characters.` };
      const kept = { ...note, description: oneLine(note.description) };
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await write(`${note.name}.md`, noteText(kept));
        const before = (await readText(fileOf(indexName), maxIndexBytes)) ?? "";
        await write(indexName, withLine(before, kept));
        return { ok: true };
      } catch (thrown) {
        return {
          ok: false,
          why: `The note could not be kept: ${thrown instanceof Error ? thrown.message : "unknown"}`,
        };
      }
    },
  };
}

async function topics(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".md") && name !== indexName)
    .map((name) => name.slice(0, -3))
    .filter((name) => nameProblem(name) === undefined)
    .sort()
    .slice(0, maxNotes);
}

/** Undefined for what is no plain file: a link or a device in the folder is nobody's note. */
async function readText(file: string, most: number): Promise<string | undefined> {
  try {
    if (!(await lstat(file)).isFile()) return undefined;
    await using handle = await open(file, "r");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(most), 0, most, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return undefined;
  }
}

function scoreOf({ name, description, content }: Note, words: readonly string[]): number {
  const [inName, inLine, inText] = [name, description, content].map((text) => text.toLowerCase());
  return words.reduce(
    (sum, word) =>
      sum +
      (inName?.includes(word) ? 4 : 0) +
      (inLine?.includes(word) ? 2 : 0) +
      (inText?.includes(word) ? 1 : 0),
    0,
  );
}

const maxLines = 200;
const maxBytes = 25_000;

/** The index as the model reads it: bounded in lines and in bytes, whichever is met first, with a word about it. */
export function bounded(text: string): string {
  const lines = text.split("\n");
  const bytes = byteLength(text);
  if (lines.length <= maxLines && bytes <= maxBytes) return text;
  const room = maxBytes - 200;
  const kept: string[] = [];
  let used = 0;
  for (const line of lines.slice(0, maxLines)) {
    used += byteLength(line) + 1;
    if (used > room) break;
    kept.push(line);
  }
  const why = lines.length > maxLines ? `${maxLines} lines` : `${maxBytes} bytes`;
  return `${kept.join("\n")}\n\nWARNING: the index is longer than ${why}; the rest is left out here. Shorten it: one line for each note.`;
}

/** A line of its own for the note, in place of its older one. */
function withLine(index: string, note: { name: string; description: string; type: string }): string {
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
const nameIn = (line: string): string | undefined => /\]\(([a-z0-9-]{1,64})\.md\)/.exec(line)?.[1];

/** A name that is a file name on every system and names nothing else. */
function nameProblem(name: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    return "A note's name is made of small letters, digits and hyphens, at most 64.";
  return reserved.test(name) ? `${name} cannot be the name of a note.` : undefined;
}
/** The index itself, and what some systems take for a device. */
const reserved = /^(memory|con|prn|aux|nul|com\d|lpt\d)$/;

const maxDescription = 140;
const maxContent = 100_000;

/** One line of it, short enough for the index. */
const oneLine = (words: string): string => shorten(words.replace(/\s+/g, " ").trim(), maxDescription);

const noteText = ({ name, type, description, content }: Note): string =>
  `---\nname: ${name}\ndescription: ${JSON.stringify(oneLine(description))}\ntype: ${type}\n---\n\n${content.trim()}\n`;

/** What a person wrote by hand counts too: whatever the header lacks gets a careful meaning. */
function readNote(name: string, text: string): Note {
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
  const read = value.startsWith('"') ? parseJson(value) : value;
  return typeof read === "string" ? read : value;
}
