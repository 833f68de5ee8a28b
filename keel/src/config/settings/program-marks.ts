/**
 * What a project's settings name as programs, by content: trust in a command is trust in what it runs. A file that has
 * changed since it was shown, or was not there then, has a mark that nobody has seen.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isInside } from "../../kernel/path.ts";
import { baseOf, commandWords, filesNamed } from "./command-lines.ts";
import type { SettingEntry } from "./entries.ts";
import { kindOf, type Project, realOf } from "./project-root.ts";

export type ProgramMark = { readonly file: string; readonly mark: string };

/** By the entry that names them. */
export type ProgramMarks = ReadonlyMap<SettingEntry, readonly ProgramMark[]>;

/** More than a project names. What is beyond has no mark that could have been shown, and waits. */
const maxFiles = 200;
/** A script is far smaller; what is larger is told by its size and times. */
const maxBytes = 16 * 1024 * 1024;

/** Of entries of the project itself, and of files below its root: what lies elsewhere is not the project's to change. */
export async function programMarks(
  entries: readonly SettingEntry[],
  { root, folders }: Project,
): Promise<ProgramMarks> {
  const marks = new Map<SettingEntry, readonly ProgramMark[]>();
  const known = new Map<string, Promise<string>>();
  for (const entry of entries) {
    if (entry.source !== "project" && entry.source !== "local") continue;
    const bases = [...new Set([baseOf(entry) ?? root, root, ...folders])];
    const files = filesNamed(commandWords(entry), { bases, home: homedir(), project: root })
      .filter((file) => kindOf(realOf(file)) === "other")
      .filter((file) => isInside(realOf(file), [root]));
    const found: ProgramMark[] = [];
    for (const file of files) {
      const digest =
        known.get(file) ?? (known.size < maxFiles ? digestOf(file) : Promise.resolve("too many"));
      known.set(file, digest);
      found.push({ file, mark: markOf(file, await digest) });
    }
    if (found.length > 0) marks.set(entry, found);
  }
  return marks;
}

const markOf = (file: string, digest: string): string =>
  createHash("sha256").update(`program\0${file}\0${digest}`).digest("hex").slice(0, 32);

async function digestOf(file: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    if (size > maxBytes) return `${size} ${mtimeMs} ${ino}`;
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    return hash.digest("hex");
  } catch {
    return "unreadable";
  }
}
