/** A team as the fold knows it: who is in it, who has left, and which calls have changed its list. */
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";

export type TeamMember = {
  readonly taskId: string;
  readonly session: string;
  readonly kind: string;
  /** It was shut down: nobody wakes it any more. */
  readonly hasLeft: boolean;
};

export type TeamState = {
  readonly name: string;
  readonly description: string | undefined;
  readonly members: ReadonlyMap<string, TeamMember>;
  /** The newest calls that changed the list: after a crash none of them changes it again. */
  readonly calls: readonly string[];
};

/** More than can be open at once. */
const maxCalls = 200;

/** Pure. The same value when the event is about no team. */
export const foldTeam = (team: TeamState | null, event: Durable): TeamState | null => {
  const after = handle(changes, event, team);
  return after === undefined ? team : after;
};

const changes: EventHandlers<Durable, [team: TeamState | null], TeamState | null> = {
  "team.changed": ({ team: name, change, description, call, member }, team) => {
    if (change === "formed") return { name, description, members: new Map(), calls: [] };
    if (change === "ended" || !team) return null;
    if (change === "left") return withMember(team, member, { hasLeft: true });
    return call === undefined ? team : { ...team, calls: [...team.calls.slice(1 - maxCalls), call] };
  },
  "task.changed": ({ taskId, status, data = {} }, team) => {
    const { name, session, agent = "" } = data;
    if (status !== "running" || !team || data.team !== team.name) return team;
    if (name === undefined || session === undefined) return team;
    return withMember(team, name, { taskId, session, kind: agent, hasLeft: false });
  },
};

function withMember(team: TeamState, name: string | undefined, change: Partial<TeamMember>): TeamState {
  const known = name === undefined ? undefined : team.members.get(name);
  if (name === undefined || (!known && change.taskId === undefined)) return team;
  const { taskId = "", session = "", kind = "", hasLeft = false } = { ...known, ...change };
  return { ...team, members: new Map(team.members).set(name, { taskId, session, kind, hasLeft }) };
}

/** The team that an agent is in, unless it has left it. */
export const teamWith = (team: TeamState | null, taskId: string): string | undefined =>
  team?.members.values().some((member) => member.taskId === taskId && !member.hasLeft)
    ? team.name
    : undefined;
