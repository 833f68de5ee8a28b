/** Which files a session and its agents changed, and the messages of a person before which they can be put back. */
import { type Envelope, type EventHandlers, handle } from "../protocol/event/envelope.ts";
import { textOf } from "../protocol/message.ts";

export type ChangedFile = {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** How many calls changed it. */
  readonly times: number;
};

/** A message of a person before which the files were as they can be put back. */
export type FileCheckpoint = {
  /** The id of the input, by which a rewind names it. */
  readonly id: string;
  readonly at: number;
  readonly words: string;
  /** The files that were changed after it. */
  readonly paths: readonly string[];
};

export type FileChanges = {
  readonly files: Readonly<Record<string, ChangedFile>>;
  /** Those with changes after them, in the order of the log. */
  readonly checkpoints: readonly FileCheckpoint[];
  /** The checkpoint that takes the last rewind back, as long as nothing was changed since. */
  readonly undo: string | null;
  /** Words of inputs that may become checkpoints. */
  readonly inputs: Readonly<Record<string, { readonly at: number; readonly words: string }>>;
};

export const noFileChanges: FileChanges = { files: {}, checkpoints: [], undo: null, inputs: {} };

const maxWords = 120;

export const foldFileChanges = (before: FileChanges, event: Envelope): FileChanges =>
  handle(changes, event, before) ?? before;

export const fileChangesOf = (envelopes: Iterable<Envelope>): FileChanges =>
  Iterator.from(envelopes).reduce(foldFileChanges, noFileChanges);

const changes: EventHandlers<Envelope, [changes: FileChanges], FileChanges> = {
  "input.accepted": ({ input, at, origin }, before) => {
    if (origin || input.from.kind !== "person") return before;
    const words = textOf(input.content).trim().slice(0, maxWords);
    return { ...before, inputs: { ...before.inputs, [input.id]: { at, words } } };
  },
  "tool.finished": ({ display, linesAdded = 0, linesRemoved = 0 }, before) => {
    if (display.kind !== "diff" || linesAdded + linesRemoved === 0) return before;
    const { path } = display;
    const known = Object.hasOwn(before.files, path) ? before.files[path] : undefined;
    const file: ChangedFile = {
      path,
      added: (known?.added ?? 0) + linesAdded,
      removed: (known?.removed ?? 0) + linesRemoved,
      times: (known?.times ?? 0) + 1,
    };
    return { ...before, files: { ...before.files, [path]: file }, undo: null };
  },
  "files.saved": ({ checkpoint, files, at, origin }, before) => {
    if (origin) return before;
    const paths = files.map(({ path }) => path);
    const index = before.checkpoints.findIndex(({ id }) => id === checkpoint);
    const known = before.checkpoints[index];
    if (known) {
      const all = [...new Set([...known.paths, ...paths])];
      return { ...before, checkpoints: before.checkpoints.with(index, { ...known, paths: all }) };
    }
    const said = Object.hasOwn(before.inputs, checkpoint) ? before.inputs[checkpoint] : undefined;
    // A checkpoint that no message made is the undo of a rewind.
    if (!said) return before;
    const made: FileCheckpoint = { id: checkpoint, at: said.at ?? at, words: said.words, paths };
    return { ...before, checkpoints: [...before.checkpoints, made] };
  },
  "files.rewound": ({ undo, restored }, before) => ({
    ...before,
    files: Object.fromEntries(Object.entries(before.files).filter(([path]) => !restored.includes(path))),
    undo,
  }),
};
