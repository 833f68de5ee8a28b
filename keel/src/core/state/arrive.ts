/** A session that goes to another machine, and one that came from there. Pure. */
import { fault } from "../../kernel/fault.ts";
import { List } from "../../kernel/list.ts";
import { Lookup } from "../../kernel/lookup.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import type { SavedFiles } from "./checkpoint-state.ts";
import type { SessionState } from "./state.ts";
import { inTurn } from "./turn.ts";

type EventOf<T extends Durable["type"]> = Extract<Durable, { type: T }>;

/** A copy of its log under another id is another session, and did not go anywhere. */
export const moved = (state: SessionState, event: EventOf<"session.moved">): SessionState =>
  event.of === event.session
    ? { ...state, moved: { move: event.move, to: event.to, tree: event.tree } }
    : state;

/** Throws `session_moved`. */
export function mustBeHere({ moved }: SessionState, session: string): void {
  if (moved) throw fault("session_moved", { session, to: moved.to.name });
}

/**
 * It goes on here: what was seen and kept of files holds for the same files here, questions are still open, and nothing
 * is allowed that was allowed elsewhere. What is denied or asked about stays so.
 */
export function arrived(state: SessionState, event: EventOf<"session.arrived">): SessionState {
  if (event.undone) return { ...state, moved: null };
  const rebase = rebaser(event.roots);
  const here: SessionState = {
    ...state,
    moved: null,
    opened: state.opened && { ...state.opened, cwd: event.cwd },
    folder: null,
    keptFolder: null,
    learnt: { ...state.learnt, allow: [], folders: [] },
    answers: new Map(),
    pending: state.pending.map(({ allow: _, ...input }) => input),
    asks: state.asks.map((ask) => ({
      ...ask,
      options: ask.options.map(({ rule: _, ...option }) => option),
    })),
    seen: Lookup.of([...state.seen].map(([path, stamp]) => [rebase(path), stamp])),
    files: rebased(state.files, rebase),
  };
  return inTurn(here, (turn) => ({ ...turn, allow: [] }));
}

const rebased = (files: SavedFiles, rebase: (path: string) => string): SavedFiles => ({
  ...files,
  saves: List.of([...files.saves].map((save) => ({ ...save, path: rebase(save.path) }))),
  // Alone, or behind the name of a checkpoint.
  known: Lookup.of(
    [...files.known].map(([key, known]) => {
      const [path = "", ...before] = key.split("\0").reverse();
      return [[...before, rebase(path)].join("\0"), known];
    }),
  ),
  lost: List.of([...files.lost].map((lost) => ({ ...lost, path: rebase(lost.path) }))),
  left: Lookup.of([...files.left].map(([path, stamp]) => [rebase(path), stamp])),
});

/** Whatever lies elsewhere keeps its name; nothing of it is reached from here. */
function rebaser({ from, to }: EventOf<"session.arrived">["roots"]): (path: string) => string {
  const inside = from.endsWith("/") ? from : `${from}/`;
  const target = to.endsWith("/") ? to.slice(0, -1) : to;
  return (path) =>
    path === from ? to : path.startsWith(inside) ? `${target}/${path.slice(inside.length)}` : path;
}
