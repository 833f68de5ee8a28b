/** How a session stands, from its log: where it works, with which settings, and what the model has on its list. */

import type { Input } from "../protocol/event/durable.ts";
import { type Envelope, type EnvelopeOf, type EventHandlers, handle } from "../protocol/event/envelope.ts";
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
  /** The tries of the goal since it was set, the newest last. */
  readonly tries: readonly GoalTry[];
  readonly team: TeamStanding;
  /** What waits to be taken, with when it is to be taken. */
  readonly waiting: readonly Input[];
  /** The log ends with a graceful end. */
  readonly isClosed: boolean;
};

/** One look at whether the goal holds, and what came of it. */
export type GoalTry = Pick<EnvelopeOf<"goal.tried">, "try" | "held" | "words" | "at">;

/** Whether it leads a team; `changes` is another number when somebody who looks at it should look again. */
export type TeamStanding = { readonly name: string | null; readonly changes: number };

const noTeam: TeamStanding = { name: null, changes: 0 };
/** A goal that is set for long has many. */
const maxTries = 50;

export const noStanding: SessionStanding = {
  openedAt: null,
  cwd: "",
  worktree: null,
  settings: null,
  todos: [],
  tries: [],
  team: noTeam,
  waiting: [],
  isClosed: false,
};

export function foldStanding(given: SessionStanding, event: Envelope): SessionStanding {
  const team = foldTeamStanding(given.team, event);
  const before = team === given.team ? given : { ...given, team };
  if (event.origin) return before;
  const next = handle(changes, event, before) ?? before;
  // Whatever is on record after an end has taken the session up again.
  return next.isClosed && "seq" in event && event.type !== "session.closed"
    ? { ...next, isClosed: false }
    : next;
}

export const standingOf = (envelopes: Iterable<Envelope>): SessionStanding =>
  Iterator.from(envelopes).reduce(foldStanding, noStanding);

/** Also by what is told of its members: who asks, who was told something. */
function foldTeamStanding(team: TeamStanding, event: Envelope): TeamStanding {
  const name = event.origin ? team.name : nameAfter(team.name, event);
  if (name === null) return team.name === null ? team : { name, changes: team.changes + 1 };
  return ofTeams.has(event.type) || name !== team.name ? { name, changes: team.changes + 1 } : team;
}

function nameAfter(name: string | null, event: Envelope): string | null {
  if (event.type !== "team.changed") return name;
  return event.change === "formed" ? event.team : event.change === "ended" ? null : name;
}

const ofTeams: ReadonlySet<string> = new Set([
  "team.changed",
  "task.changed",
  "input.accepted",
  "ask.opened",
  "ask.closed",
  "turn.started",
  "turn.finished",
]);

const changes: EventHandlers<Envelope, [standing: SessionStanding], SessionStanding> = {
  "session.opened": ({ cwd, settings, at }, standing) => ({ ...standing, openedAt: at, cwd, settings }),
  "settings.changed": ({ patch }, standing) => ({
    ...standing,
    settings: standing.settings && patchSettings(standing.settings, patch),
    tries: patch.goal === undefined ? standing.tries : [],
  }),
  "goal.tried": ({ try: count, held, words, at }, standing) => ({
    ...standing,
    tries: [...standing.tries, { try: count, held, words, at }].slice(-maxTries),
  }),
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
