/** What the files of a session were at each moment that its log can tell: before each message, after each edit, at the end. */
import { readFile } from "node:fs/promises";
import type { EditCall, Past, PastTurn } from "../../time/bisect/moments.ts";

export type Moment = {
  readonly turn: PastTurn | undefined;
  /** The call that led here, where one alone did. */
  readonly call?: EditCall | undefined;
  readonly files: ReadonlyMap<string, Uint8Array | null>;
};

/** Every moment says of every file that changes at any of them what it is there: they can be visited in any order. */
export async function momentsOf(
  past: Past,
  cwd: string,
  blob: (name: string) => Promise<Uint8Array | undefined>,
): Promise<{ moments: Moment[]; lost: string[] }> {
  const changed = new Set<string>();
  const lost = new Set<string>();
  const before = past.turns.map(({ checkpoint }) => past.filesBefore(checkpoint));
  for (const files of before) for (const file of files.keys()) changed.add(file);
  for (const { checkpoint } of past.turns) for (const file of past.lostSince(checkpoint)) lost.add(file);
  const now = new Map<string, Uint8Array | null>();
  for (const file of changed) now.set(file, await readFile(file).catch(() => null));
  const whole: Map<string, Uint8Array | null>[] = [];
  for (const files of before) {
    const contents = new Map(now);
    for (const [file, name] of files) {
      const content = name === null ? null : await blob(name);
      if (content === undefined) lost.add(file);
      else contents.set(file, content);
    }
    whole.push(contents);
  }
  whole.push(now);
  const moments: Moment[] = [];
  for (const [at, files] of whole.entries()) {
    const turn = past.turns[at - 1];
    const previous = whole[at - 1];
    if (turn && previous) moments.push(...withinTurn(turn, previous, files));
    moments.push({ turn, files, ...lastCall(turn, previous, files) });
  }
  return { moments, lost: [...lost].filter((file) => file.startsWith(cwd)) };
}

/** The moments after each edit but the last, where the edits of a turn explain all that it changed. */
function withinTurn(
  turn: PastTurn,
  before: ReadonlyMap<string, Uint8Array | null>,
  after: ReadonlyMap<string, Uint8Array | null>,
): Moment[] {
  const steps: Moment[] = [];
  let files = new Map(before);
  for (const call of turn.edits) {
    const content = files.get(call.path);
    if (content === undefined) return [];
    const edited = call.edit(content === null ? "" : decoder.decode(content));
    if (edited === null) return [];
    files = new Map(files).set(call.path, encoder.encode(edited));
    steps.push({ turn, call, files });
  }
  return isSameFiles(files, after) ? steps.slice(0, -1) : [];
}

/** The last edit leads to the end of its turn. */
function lastCall(
  turn: PastTurn | undefined,
  before: ReadonlyMap<string, Uint8Array | null> | undefined,
  after: ReadonlyMap<string, Uint8Array | null>,
): { call?: EditCall } {
  const last = turn?.edits.at(-1);
  if (!turn || !last || !before) return {};
  const isWhole =
    turn.edits.length === 1 ? turn.others.length === 0 : withinTurn(turn, before, after).length > 0;
  return isWhole ? { call: last } : {};
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

const isSameFiles = (
  left: ReadonlyMap<string, Uint8Array | null>,
  right: ReadonlyMap<string, Uint8Array | null>,
): boolean => [...left].every(([file, content]) => isSame(content, right.get(file) ?? null));

export const isSame = (left: Uint8Array | null, right: Uint8Array | null): boolean =>
  left === null || right === null ? left === right : Buffer.compare(left, right) === 0;
