/** What a session could take back: every file as it was before each checkpoint, and what the session left there last. */
import { List } from "../../kernel/list.ts";
import { Lookup } from "../../kernel/lookup.ts";
import type { WantedFile } from "../../ports/checkpoints.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import type { FileSeen } from "../../protocol/tool.ts";

type Saved = Extract<DurableEvent, { type: "files.saved" }>;

export type Save = WantedFile & { readonly checkpoint: string };

export type SavedFiles = {
  readonly saves: List<Save>;
  /** How many saves there were when each checkpoint was reached. */
  readonly marks: Lookup<number>;
  /** The checkpoint that was reached last. */
  readonly newest: string | undefined;
  /** Checkpoint and path of each save, of which the first one counts, and the path alone. */
  readonly known: Lookup<true>;
  /** Changed and not restorable, each with the number of saves before it. */
  readonly lost: List<{ readonly after: number; readonly path: string }>;
  /** The stamps of what this session wrote last; null for what it removed. */
  readonly left: Lookup<string | null>;
};

export const noSavedFiles: SavedFiles = {
  saves: List.empty(),
  marks: Lookup.empty(),
  newest: undefined,
  known: Lookup.empty(),
  lost: List.empty(),
  left: Lookup.empty(),
};

export const isSaved = ({ known }: SavedFiles, checkpoint: string, path: string): boolean =>
  known.get(key(checkpoint, path)) === true;

/** An input is a checkpoint whether or not its turn changes anything. */
export function markCheckpoints(files: SavedFiles, checkpoints: readonly string[]): SavedFiles {
  const fresh = checkpoints.filter((checkpoint) => files.marks.get(checkpoint) === undefined);
  const marks = fresh.reduce((known, checkpoint) => known.with(checkpoint, files.saves.length), files.marks);
  return { ...files, marks, newest: fresh.at(-1) ?? files.newest };
}

export function keepSaved(before: SavedFiles, event: Saved): SavedFiles {
  const { checkpoint } = event;
  const files = markCheckpoints(before, [checkpoint]);
  const fresh = event.files.filter(({ path }) => !isSaved(files, checkpoint, path));
  const after = files.saves.length;
  return {
    ...files,
    saves: fresh.reduce((list, { path, blob }) => list.append({ checkpoint, path, blob }), files.saves),
    known: fresh.reduce(
      (known, { path }) => known.with(key(checkpoint, path), true).with(path, true),
      files.known,
    ),
    lost: (event.lost ?? []).reduce((list, path) => list.append({ after, path }), files.lost),
    left: (event.left ?? []).reduce((left, { path, stamp }) => left.with(path, stamp), files.left),
  };
}

/** A tool that saw a file after it changed it says how it left it. Files that were never saved are not ours. */
export function leaveBehind(files: SavedFiles, seen: readonly FileSeen[]): SavedFiles {
  const ours = seen.filter(({ path }) => files.known.get(path) === true);
  return ours.length === 0
    ? files
    : { ...files, left: ours.reduce((left, { path, stamp }) => left.with(path, stamp), files.left) };
}

/** What each file was at a checkpoint: its first save there or later. Undefined when there is no such checkpoint. */
export function filesAt(
  { saves, marks, lost }: SavedFiles,
  checkpoint: string,
): { files: WantedFile[]; lost: string[] } | undefined {
  const start = marks.get(checkpoint);
  if (start === undefined) return undefined;
  const wanted = new Map<string, WantedFile>();
  for (const { path, blob } of saves.slice(start)) if (!wanted.has(path)) wanted.set(path, { path, blob });
  const gone = lost.slice().filter(({ after, path }) => after >= start && !wanted.has(path));
  return { files: [...wanted.values()], lost: [...new Set(gone.map(({ path }) => path))] };
}

const key = (checkpoint: string, path: string): string => `${checkpoint}\0${path}`;
