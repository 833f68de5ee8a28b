/**
 * What became of an agent whose process has ended, from its own log: what it reported, if it had come to its end;
 * otherwise it is settled there, from the deepest up, so that each level has its terminal event.
 */

import { fold } from "../core/fold.ts";
import { hasWork } from "../core/next-step.ts";
import { emptyState, type SessionState } from "../core/state/state.ts";
import { isRunning, isUnsettled } from "../core/state/task-state.ts";
import { Session } from "../engine/session.ts";
import type { SessionPorts } from "../engine/step-context.ts";
import { toFault } from "../kernel/fault.ts";
import type { Task, TaskEnd } from "../ports/tasks.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { noBill } from "../protocol/usage.ts";
import { recoveryPorts } from "./rights.ts";
import { emptyLoggedRun, endOf, foldLoggedRun, type LoggedAgentRun } from "./run.ts";
import { type AgentPorts, sessionArtifacts } from "./tree.ts";

type RecoveryContext = {
  readonly ports: AgentPorts;
  readonly parts: SessionPorts;
  readonly supervisor: {
    equip(parts: SessionPorts): void;
    recover: NonNullable<SessionPorts["recover"]>;
  };
  /** The team that is there to take its members up again. */
  readonly team: string | undefined;
};

/** `goes-on`: it was at work for a team, which will take it up. */
export async function recoverAgent(task: Task, help: RecoveryContext): Promise<TaskEnd | "goes-on"> {
  const { id, data } = task;
  // One whose end is on record, and whose log could not be brought to its own, is not taken up again by itself.
  const mayGoOn = isRunning(task) && data.team !== undefined && help.team === data.team;
  const description = data.description ?? id;
  const summary = `${description}: lost, since the process that ran it has ended`;
  const lost = { status: "stopped", summary, error: "it was lost when the process ended" } as const;
  const unbegun = mayGoOn ? "goes-on" : lost;
  if (data.session === undefined) return lost;
  try {
    const { state, found } = await readLoggedRun(help.ports.store.read(data.session), data.since);
    if (!state.opened) return unbegun;
    const isOver = !hasWork(state) && found.reason !== undefined && !state.tasks.values().some(isRunning);
    const about = { ...found, description, log: "whole" as const };
    if (!isOver && mayGoOn) return "goes-on";
    if (isOver && !state.tasks.values().some(isUnsettled)) return endOf({ ...about, state });
    const settled = await settle(data.session, state, { ...help, reason: isOver ? "ended" : "failed" });
    if (isOver) return endOf({ ...about, state: settled });
    const { report, bill, toolUses, unsettled } = endOf({ ...about, state: settled, reason: "lost" });
    return { ...lost, report, bill, toolUses, ...(unsettled ? { unsettled } : {}) };
  } catch (thrown) {
    // The process ended before it had a log.
    if (toFault(thrown).code === "session_unknown") return unbegun;
    // A log that cannot be read or written now must not keep the session above from being opened: it is tried again then.
    return { ...lost, unsettled: true };
  }
}

/** Whether a session was ever told this, or anything. */
export async function wasTold(
  store: Pick<AgentPorts["store"], "read">,
  session: string,
  id?: string,
): Promise<boolean> {
  for await (const event of store.read(session))
    if (event.type === "input.accepted" && (id === undefined || event.input.id === id)) return true;
  return false;
}

/** What a log says of its last life, which begins behind the event `since`, or with the log. */
export async function readLoggedRun(
  events: AsyncIterable<Durable>,
  since: number | undefined,
): Promise<{ readonly state: SessionState; readonly found: LoggedAgentRun }> {
  let state = emptyState;
  let found = emptyLoggedRun(noBill);
  for await (const event of events) {
    found = foldLoggedRun(found, event, state);
    state = fold(state, event);
    if (event.seq === since) found = emptyLoggedRun(state.bill);
  }
  return { state, found };
}

async function settle(
  id: string,
  state: SessionState,
  { ports: world, parts, supervisor, reason }: RecoveryContext & { readonly reason: "ended" | "failed" },
): Promise<SessionState> {
  const log = await world.store.open(id);
  const { spill, taskFile } = sessionArtifacts(world.store, id);
  const recover: SessionPorts["recover"] = (task, team) => supervisor.recover(task, team);
  const own = recoveryPorts(parts, { log, spill, taskFile, recover });
  supervisor.equip(own);
  const settings = state.settings ?? {
    model: "",
    permissionMode: "default" as const,
    thinking: { kind: "off" as const },
  };
  const start = { keel: world.version, cwd: state.opened?.cwd ?? "", settings };
  const session = await Session.open(own, { start, unfinished: "lost" });
  for (const { id: inputId } of session.state.pending) await session.submit({ type: "drop", inputId });
  await session.close(reason);
  return session.state;
}
