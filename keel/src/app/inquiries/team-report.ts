/** A team as its leader's log and the newest events of its members' logs tell it. */
import { isRunning } from "../../core/state/task-state.ts";
import type { TeamMember } from "../../core/state/team-state.ts";
import type { Session } from "../../engine/session.ts";
import type { Store } from "../../ports/store.ts";
import type { Task } from "../../ports/tasks.ts";
import type { Ask } from "../../protocol/ask.ts";
import { textOf } from "../../protocol/message.ts";
import type { TeamMemberEntry, TeamReport, TeamWait } from "../../protocol/team.ts";
import type { Todo } from "../../protocol/tool.ts";

export type LookedAtTeam = {
  readonly session: Pick<Session, "id" | "state">;
  readonly store: Pick<Store, "read">;
  /** Of the session and of all agents below it. */
  readonly asks: readonly Ask[];
};

const leader = "main";
const shownMessages = 50;
/** Of each log: enough for what was said lately, and no more than is read in a moment. */
const newestEvents = 400;

/** Null where the session has none. */
export async function teamReport({ session, store, asks }: LookedAtTeam): Promise<TeamReport | null> {
  const { team, tasks, worklist, turn } = session.state;
  if (!team) return null;
  const known = [...team.members].map(([name, member]) => ({ name, member, task: tasks.get(member.taskId) }));
  const members = known.map((one) => memberEntry(one, { asks, todos: worklist.todos }));
  const atWork = known.filter(({ task }) => task && isRunning(task)).map(({ name }) => name);
  const ownAsks = asks.filter(({ origin }) => origin === undefined);
  const main: TeamMemberEntry = {
    name: leader,
    session: session.id,
    state: ownAsks.length > 0 ? "asking" : turn ? "working" : "resting",
    tasks: tasksOf(leader, worklist.todos).map(({ id }) => id),
    waits: [
      ...ownAsks.map(waitForAnswer),
      ...waitsForTasks(leader, worklist.todos),
      ...(turn ? [] : atWork.map((name): TeamWait => ({ for: "report", of: name }))),
    ],
  };
  const places = [{ name: leader, session: session.id }].concat(
    known.map(({ name, member }) => ({ name, session: member.session })),
  );
  const said = await Promise.all(places.map((place) => messagesTo(place, store)));
  return {
    name: team.name,
    ...(team.description === undefined ? {} : { description: team.description }),
    members: [main, ...members],
    messages: said
      .flat()
      .toSorted((one, other) => one.at - other.at)
      .slice(-shownMessages),
  };
}

function memberEntry(
  { name, member, task }: { name: string; member: TeamMember; task: Task | undefined },
  { asks, todos }: { asks: readonly Ask[]; todos: readonly Todo[] },
): TeamMemberEntry {
  const runs = task !== undefined && isRunning(task) && !member.hasLeft;
  const open = runs ? asks.filter(({ origin }) => origin?.agentId === member.taskId) : [];
  const plans = !runs && !member.hasLeft && task?.data.plans === true && task.status === "completed";
  return {
    name,
    kind: member.kind,
    taskId: member.taskId,
    session: member.session,
    state: stateOf(member, task, open.length > 0),
    ...(runs || task?.endedAt === undefined ? {} : { since: task.endedAt }),
    tasks: tasksOf(name, todos).map(({ id }) => id),
    waits: [
      ...open.map(waitForAnswer),
      ...(plans ? [{ for: "plan", of: leader } as const] : []),
      ...(member.hasLeft ? [] : waitsForTasks(name, todos)),
    ],
  };
}

function stateOf(member: TeamMember, task: Task | undefined, asks: boolean): TeamMemberEntry["state"] {
  if (member.hasLeft) return "left";
  if (task && isRunning(task)) return asks ? "asking" : "working";
  return task?.status === "failed" ? "failed" : "resting";
}

const tasksOf = (name: string, todos: readonly Todo[]): readonly Todo[] =>
  todos.filter(({ owner, status }) => owner === name && status !== "completed");

const waitForAnswer = ({ title, tool }: Ask): TeamWait => ({ for: "answer", about: tool ?? title });

/** What it has taken cannot be begun before these are done. */
function waitsForTasks(name: string, todos: readonly Todo[]): TeamWait[] {
  const blockers = new Set(tasksOf(name, todos).flatMap(({ blockedBy = [] }) => blockedBy));
  return todos
    .filter(({ id, status }) => blockers.has(id) && status !== "completed")
    .map(({ id, text, owner }) => ({
      for: "task",
      about: `#${id} ${text}`,
      ...(owner === undefined ? {} : { of: owner }),
    }));
}

/** One that has no log yet was told nothing. */
async function messagesTo(
  { name, session }: { readonly name: string; readonly session: string },
  store: Pick<Store, "read">,
): Promise<TeamReport["messages"][number][]> {
  const messages: TeamReport["messages"][number][] = [];
  try {
    for await (const event of store.read(session, -newestEvents))
      if (event.type === "input.accepted" && event.input.from.kind === "agent") {
        const { from, content } = event.input;
        messages.push({ from: from.name, to: name, text: wordsOf(textOf(content)), at: event.at });
      }
  } catch {
    // Nobody else is the worse for it.
  }
  return messages;
}

/** Without the tags that say to the model whose words they are. */
const wordsOf = (text: string): string =>
  /^<keel-message\b[^>]*>\n([\s\S]*)\n<\/keel-message>$/.exec(text)?.[1] ?? text;
