/** How often the goal of a session was tried since it was set, and whether it held. */
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";

export type GoalState = { readonly tries: number; readonly held: boolean };

export const noGoalTries: GoalState = { tries: 0, held: false };

/** Pure. */
export const foldGoal = (goal: GoalState, event: Durable): GoalState => handle(changes, event, goal) ?? goal;

const changes: EventHandlers<Durable, [goal: GoalState], GoalState> = {
  "settings.changed": ({ patch }, goal) => (patch.goal === undefined ? goal : noGoalTries),
  "goal.tried": ({ try: tries, held }) => ({ tries, held }),
  // What a person wants next has its own tries; a goal that held has been reached.
  "turn.started": (_, goal) => (goal.held || goal.tries === 0 ? goal : noGoalTries),
};
