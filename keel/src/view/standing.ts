/** How a session stands, from its log: where it works, with which settings, and what the model has on its list. */

import type { Input } from "../protocol/event/durable.ts";
import { type Envelope, type EventHandlers, handle } from "../protocol/event/envelope.ts";
import { patchSettings, type SessionSettings } from "../protocol/settings.ts";
import type { Worktree } from "../protocol/task.ts";
import type { Todo } from "../protocol/tool.ts";

export type SessionStanding = {
  readonly openedAt: number | null;
  readonly cwd: string;
  /** The folder of its own that it works in now. */
  readonly worktree: Worktree | null;
  readonly settings: SessionSettings | null;
  readonly todos: readonly Todo[];
  /** What waits to be taken, with when it is to be taken. */
  readonly waiting: readonly Input[];
  /** The log ends with a graceful end. */
  readonly isClosed: boolean;
};

export const noStanding: SessionStanding = {
  openedAt: null,
  cwd: "",
  worktree: null,
  settings: null,
  todos: [],
  waiting: [],
  isClosed: false,
};

export function foldStanding(before: SessionStanding, event: Envelope): SessionStanding {
  if (event.origin) return before;
  const next = handle(changes, event, before) ?? before;
  // Whatever is on record after an end has taken the session up again.
  return next.isClosed && "seq" in event && event.type !== "session.closed"
    ? { ...next, isClosed: false }
    : next;
}

export const standingOf = (envelopes: Iterable<Envelope>): SessionStanding =>
  Iterator.from(envelopes).reduce(foldStanding, noStanding);

const changes: EventHandlers<Envelope, [standing: SessionStanding], SessionStanding> = {
  "session.opened": ({ cwd, settings, at }, standing) => ({ ...standing, openedAt: at, cwd, settings }),
  "settings.changed": ({ patch }, standing) =>
    standing.settings ? { ...standing, settings: patchSettings(standing.settings, patch) } : standing,
  "folder.changed": ({ cwd, worktree = null }, standing) => ({ ...standing, cwd, worktree }),
  "session.arrived": ({ cwd, undone }, standing) =>
    undone ? standing : { ...standing, cwd, worktree: null },
  "tool.finished": ({ todos }, standing) => (todos ? { ...standing, todos } : standing),
  "context.cleared": (_, standing) => ({ ...standing, todos: [] }),
  "input.accepted": ({ input }, standing) => ({ ...standing, waiting: [...standing.waiting, input] }),
  "input.dropped": ({ inputId }, standing) => without(standing, [inputId]),
  "input.joined": ({ inputIds }, standing) => without(standing, inputIds),
  "turn.started": ({ inputIds }, standing) => without(standing, inputIds),
  "session.closed": (_, standing) => ({ ...standing, isClosed: true }),
};

const without = (standing: SessionStanding, taken: readonly string[]): SessionStanding => ({
  ...standing,
  waiting: standing.waiting.filter(({ id }) => !taken.includes(id)),
});
