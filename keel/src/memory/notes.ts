/**
 * Notes in a folder: `MEMORY.md`, the index, and one file for each topic. A person may write there too, and keep it
 * under version control. A note that the index lacks is added when it is read, so that writers at once lose nothing.
 */
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Memory, Note } from "../ports/memory.ts";
import { bounded, nameIn, withLine } from "./index-page.ts";
import { maxContent, nameProblem, noteText, oneLine, readNote } from "./note-file.ts";

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
      const file = await open(temporary, "wx", 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
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
    const handle = await open(file, "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(most), 0, most, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
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
