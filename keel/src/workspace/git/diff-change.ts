/**
 * Stages, unstages and reverts a file or a hunk. What is named by a hunk is looked up once more: one that has changed
 * since it was shown is refused. A revert keeps what it takes away.
 */
import { unlink } from "node:fs/promises";
import path from "node:path";
import { no, type Refused } from "../../kernel/result.ts";
import { type FileLook, readFileDiff } from "./diff-file.ts";
import { type DiffFolder, type DiffPlace, openDiffPlace } from "./diff-place.ts";
import { checkpoint, undo } from "./diff-undo.ts";

export type WantedDiffChange = {
  readonly action: "stage" | "unstage" | "revert" | "undo";
  readonly path?: string | undefined;
  readonly hunk?: string | undefined;
  readonly undo?: string | undefined;
};

/** `undoFolder`: where what was taken away is kept. */
export type ChangedDiffFolder = DiffFolder & { readonly undoFolder: string };

export type DiffChanged = { readonly ok: true; readonly undo?: string | undefined } | Refused;

export async function changeDiff(
  folder: ChangedDiffFolder,
  wanted: WantedDiffChange,
  signal: AbortSignal,
): Promise<DiffChanged> {
  const place = await openDiffPlace(folder, signal);
  if (!place.ok) return place;
  if (wanted.action === "undo")
    return wanted.undo === undefined
      ? no("What is to be put back has to be named.")
      : undo(place, folder.undoFolder, wanted.undo);
  if (wanted.path === undefined) return no("A file has to be named.");
  const look = await readFileDiff(place, wanted.path);
  if (!look.ok) return look;
  const filter = await filterOf(place, wanted.path);
  if (filter !== undefined)
    return no(
      `${wanted.path} passes through a program of its own on its way into git (${filter}), which is not run here. A terminal can do this.`,
    );
  const target = { place, look, file: wanted.path, undoFolder: folder.undoFolder };
  if (wanted.hunk === undefined || look.entry?.change === "untracked")
    return whyNotWhole(look, wanted) ?? changeFile(target, wanted.action);
  return changeHunk(target, wanted.action, wanted.hunk);
}

type DiffTarget = {
  readonly place: DiffPlace;
  readonly look: FileLook;
  readonly file: string;
  readonly undoFolder: string;
};

/** The one hunk of a new file is the file. */
const whyNotWhole = ({ diff }: FileLook, { hunk }: WantedDiffChange): Refused | undefined =>
  hunk !== undefined && !diff.hunks.some(({ id }) => id === hunk) ? changedSince : undefined;

const changedSince = no("This place of the file has changed since it was shown. Look at it again.");

async function changeFile(target: DiffTarget, action: "stage" | "unstage" | "revert"): Promise<DiffChanged> {
  const { place, look, file } = target;
  const from = look.entry?.from;
  const paths = from === undefined ? [file] : [file, from];
  if (action === "stage") return done(await place.git(["add", "--all", "--", ...paths]));
  if (action === "unstage")
    return done(
      await place.git(
        place.head === undefined
          ? ["rm", "--cached", "--quiet", "--ignore-unmatch", "--", ...paths]
          : ["reset", "--quiet", place.head, "--", ...paths],
      ),
    );
  if (!look.entry) return no(`${file} has changed in commits only; they are not taken back here.`);
  if (look.entry.change === "conflicted")
    return no("A conflict has two sides: which one counts is not decided here.");
  return kept(target, paths, () => revertFile(place, paths));
}

/** As the last commit has it; what it does not have goes. */
async function revertFile(place: DiffPlace, paths: readonly string[]): Promise<DiffChanged> {
  for (const file of paths) {
    const listed =
      place.head === undefined ? undefined : await place.git(["ls-tree", "-z", place.head, "--", file]);
    if (listed?.ok && listed.text !== "" && place.head !== undefined) {
      const out = await place.git(["checkout", "--quiet", place.head, "--", file]);
      if (!out.ok) return no(`Git says: ${out.why}`);
      continue;
    }
    const forgotten = await place.git([
      "rm",
      "--cached",
      "--quiet",
      "--force",
      "--ignore-unmatch",
      "--",
      file,
    ]);
    if (!forgotten.ok) return no(`Git says: ${forgotten.why}`);
    await unlink(path.join(place.top, file)).catch(() => undefined); // It may be staged and deleted.
  }
  return { ok: true };
}

async function changeHunk(
  target: DiffTarget,
  action: "stage" | "unstage" | "revert",
  id: string,
): Promise<DiffChanged> {
  const { place, look, file } = target;
  const found = look.patches.find(({ hunk }) => hunk.id === id);
  if (!found) return changedSince;
  const { hunk, patch } = found;
  if (hunk.committed) return no("This place is in a commit already; commits are not taken back here.");
  if (action === "stage")
    return hunk.staged ? no("This is staged already.") : done(await apply(place, patch, "--cached"));
  if (action === "unstage")
    return hunk.staged ? done(await apply(place, patch, "--cached", "--reverse")) : no("This is not staged.");
  return kept(target, [file], async () => {
    if (!hunk.staged) return done(await apply(place, patch, "--reverse"));
    const out = await apply(place, patch, "--cached", "--reverse");
    if (!out.ok) return done(out);
    const also = await apply(place, patch, "--reverse");
    if (also.ok) return { ok: true };
    // The work tree has more to say at this place: all stays as it was.
    await apply(place, patch, "--cached");
    return no("The file has been changed further at this place: unstage it first.");
  });
}

const apply = (place: DiffPlace, patch: string, ...how: readonly string[]) =>
  place.git(["apply", ...how, "-"], patch.endsWith("\n") ? patch : `${patch}\n`);

async function kept(
  { place, undoFolder }: DiffTarget,
  paths: readonly string[],
  work: () => Promise<DiffChanged>,
): Promise<DiffChanged> {
  const saved = await checkpoint(place, undoFolder, paths);
  if (!saved.ok) return saved;
  const changed = await work();
  if (changed.ok) return { ok: true, undo: await saved.done() };
  await saved.drop();
  return changed;
}

const done = (answer: { readonly ok: true } | Refused): DiffChanged =>
  answer.ok ? { ok: true } : no(`Git says: ${answer.why}`);

/** A program that the repository names for files like this one. */
async function filterOf(place: DiffPlace, file: string): Promise<string | undefined> {
  const asked = await place.git(["check-attr", "-z", "filter", "--", file]);
  if (!asked.ok) return undefined;
  const value = asked.text.split("\0")[2] ?? "unspecified";
  return ["unspecified", "unset", "set", ""].includes(value) ? undefined : value.slice(0, 60);
}
