/**
 * Saves a small file so that nobody ever reads half of it and no change is lost: under a lock that all processes share,
 * the file is read, changed, written beside its place, brought to disk and renamed. Readers need no lock.
 */
import { constants } from "node:fs";
import { mkdir, open, readdir, realpath, rename, unlink } from "node:fs/promises";
import path from "node:path";
import { codeOf, Fault, fault } from "../../kernel/fault.ts";
import { ok, type Result } from "../../kernel/result.ts";
import { readPlainText } from "./plain-text.ts";
import { kindOf } from "./project-root.ts";

/** Runs the work while no other process runs any under the same lock; however this one ends, the lock is free again. */
export type Lock = <T>(work: () => Promise<T>) => Promise<T>;

export type Saving = {
  readonly file: string;
  /** `person`: private, and a link is followed. `project`: as others may read it, and a link is refused. */
  readonly owner: "person" | "project";
  readonly lock: Lock;
};

/** Is given what the file holds now, or an empty text; says what it shall hold, or why nothing is changed. */
export type TextChange = (text: string) => Promise<Result<string>>;

/** Throws `settings_unwritable`, and then the file is as it was: one that cannot be read is not replaced either. */
export async function saveChange({ file, owner, lock }: Saving, change: TextChange): Promise<void> {
  const refuse = (reason: string, cause?: unknown) =>
    fault("settings_unwritable", { path: file, reason, cause });
  try {
    const folder = path.dirname(file);
    await mkdir(folder, { recursive: true, ...(owner === "person" ? { mode: 0o700 } : {}) });
    if (owner === "project" && kindOf(folder) === "link") throw refuse("its folder is a link");
    await lock(async () => {
      const target = owner === "person" ? await realpath(file).catch(() => file) : file;
      const read = await readPlainText(target, { links: "refuse" });
      if (read.kind === "refused") throw refuse(read.why);
      const now = read.kind === "text" ? read.text : "";
      const changed = await change(now);
      if (!changed.ok) throw refuse(changed.error);
      if (read.kind === "text" && changed.value === now) return;
      const mode = read.kind === "text" ? read.mode : owner === "person" ? 0o600 : 0o644;
      await replaceWhole(target, changed.value, mode);
    });
  } catch (thrown) {
    const code = codeOf(thrown);
    throw code === undefined || thrown instanceof Fault ? thrown : refuse(code, thrown);
  }
}

/** The same for a private file of our own: its value, read and written as JSON. One that cannot be read is not replaced. */
export function changeJson<T>(
  { file, lock }: Pick<Saving, "file" | "lock">,
  parse: (text: string) => Promise<Result<T>> | Result<T>,
  change: (value: T | undefined) => object,
): Promise<void> {
  return saveChange({ file, lock, owner: "person" }, async (text) => {
    const known = text.trim() === "" ? ok(undefined) : await parse(text);
    return known.ok ? ok(`${JSON.stringify(change(known.value), null, 2)}\n`) : known;
  });
}

const ending = ".keel-new";

async function replaceWhole(target: string, text: string, mode: number): Promise<void> {
  const folder = path.dirname(target);
  await removeLeftovers(target);
  const fresh = path.join(folder, `.${path.basename(target)}.${process.pid}${ending}`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
    {
      await using handle = await open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      await handle.writeFile(text);
      await handle.chmod(mode);
      await handle.sync();
    }
    await rename(fresh, target);
  } catch (thrown) {
    await unlink(fresh).catch(() => undefined); // It may not have been made at all.
    throw thrown;
  }
  await syncFolder(folder);
}

/** Under the lock nobody else is writing: what is half written was left by a process that was killed. */
async function removeLeftovers(target: string): Promise<void> {
  const folder = path.dirname(target);
  const names = await readdir(folder);
  const left = names.filter((name) => name.startsWith(`.${path.basename(target)}.`) && name.endsWith(ending));
  for (const name of left) await unlink(path.join(folder, name)).catch(() => undefined); // Somebody was quicker.
}

async function syncFolder(folder: string): Promise<void> {
  // Windows keeps names durable by itself and refuses to open a directory.
  if (process.platform === "win32") return;
  await using handle = await open(folder, constants.O_RDONLY);
  await handle.sync();
}
