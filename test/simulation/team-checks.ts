/** The laws of a team, from the logs alone: who was told of a message has it, once; a task has one owner; who has left stays away. */
import { uuidFrom } from "../../keel/src/kernel/uuid.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { textOf } from "../../keel/src/protocol/message.ts";
import type { Todo } from "../../keel/src/protocol/tool.ts";
import type { Disks } from "./disk.ts";

export function teamComplaints(disks: Disks, root: string): string[] {
  const logs = new Map([...disks.all].map(([id, disk]) => [id, disk.eventsAfter(0)]));
  const lead = logs.get(root) ?? [];
  return [...lostMessages(logs, lead, root), ...stolenTasks(lead), ...wokenAgain(lead)];
}

/** A result that says so is a promise: the message is an input of whoever it was for. */
function* lostMessages(
  logs: ReadonlyMap<string, readonly Durable[]>,
  lead: readonly Durable[],
  root: string,
): Generator<string> {
  const sessions = new Map<string, string[]>([["main", [root]]]);
  for (const event of lead)
    if (event.type === "task.changed" && event.data?.name !== undefined && event.data.session !== undefined)
      sessions.set(event.data.name, [...(sessions.get(event.data.name) ?? []), event.data.session]);
  const inputs = new Set(
    [...logs.values()].flat().flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : [])),
  );
  for (const [session, events] of logs)
    for (const event of events) {
      if (event.type !== "tool.finished" || event.failed || event.denied || event.interrupted) continue;
      const [, to] = /^(ann|ben|cleo) was told\./.exec(textOf(event.content)) ?? [];
      if (to === undefined) continue;
      // By the team, or, before there was one, by an agent's own name.
      const ids = [`${session}/${event.callId}/${to}`].map((name) => uuidFrom(`message/${name}`));
      if (!ids.some((id) => inputs.has(id))) yield `a message of call ${event.callId} to ${to} is lost`;
    }
}

/** Nobody but its owner and the leader gives away what somebody has begun. */
function* stolenTasks(lead: readonly Durable[]): Generator<string> {
  let before: readonly Todo[] = [];
  for (const event of lead) {
    // Whoever goes back to an earlier message has the list of then.
    if (event.type === "context.returned") before = event.known.todos;
    const todos =
      event.type === "team.changed" ? event.todos : "todos" in event ? (event.todos as Todo[]) : undefined;
    if (!todos) continue;
    const by = event.type === "team.changed" ? event.by : "main";
    for (const { id, owner } of todos) {
      const known = before.find((todo) => todo.id === id);
      if (known?.owner !== undefined && owner !== known.owner && by !== known.owner && by !== "main")
        yield `task ${id} of ${known.owner} was taken by ${by}`;
    }
    before = todos;
  }
}

function* wokenAgain(lead: readonly Durable[]): Generator<string> {
  const gone = new Set<string>();
  const names = new Map<string, string>();
  for (const event of lead) {
    if (event.type === "task.changed" && event.data?.name !== undefined)
      names.set(event.taskId, event.data.name);
    // Without a team it is an agent like any other.
    if (event.type === "team.changed" && event.change === "ended") gone.clear();
    if (event.type === "team.changed" && event.change === "left")
      for (const [taskId, name] of names) if (name === event.member) gone.add(taskId);
    if (event.type === "task.changed" && event.status === "running" && gone.has(event.taskId))
      yield `${names.get(event.taskId)} works although it has left`;
  }
}
