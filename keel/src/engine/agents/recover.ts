/**
 * What became of an agent whose process has ended, from its own log: what it reported, if it had come to its end;
 * otherwise it is settled there, from the deepest up, so that each level has its terminal event.
 */
import { noBill } from "../../protocol/usage.ts";
import { Session } from "../session.ts";
import { emptyState, fold, type State } from "../state.ts";
import { isRunning, type Task } from "../task-state.ts";
import type { TaskEnd } from "../task-work.ts";
import type { Parts } from "../work.ts";
import { emptyFound, endOf, findIn } from "./life.ts";
import type { AgentWorld } from "./tree.ts";

type Help = {
  readonly world: AgentWorld;
  readonly parts: Parts;
  readonly crew: { equip(parts: Parts): void; recover(task: Task): Promise<TaskEnd> };
};

export async function recoverAgent({ id, data }: Task, help: Help): Promise<TaskEnd> {
  const description = data.description ?? id;
  const summary = `${description}: lost, since the process that ran it has ended`;
  const lost = { status: "stopped", summary, error: "it was lost when the process ended" } as const;
  if (data.session === undefined) return lost;
  try {
    let state = emptyState;
    let found = emptyFound(noBill);
    for await (const event of help.world.readLog(data.session)) {
      found = findIn(found, event, state);
      state = fold(state, event);
    }
    if (!state.opened) return lost;
    const isOver = !state.turn && state.pending.length === 0 && found.reason !== undefined;
    if (isOver && !state.tasks.values().some(isRunning)) return endOf({ ...found, description, state });
    const settled = await settle(data.session, state, help);
    const { report, bill, toolUses } = endOf({ ...found, description, state: settled, reason: "lost" });
    return { ...lost, report, bill, toolUses };
  } catch {
    // A log that cannot be read tells nothing, and is somebody's to look at.
    return lost;
  }
}

async function settle(id: string, state: State, { world, parts, crew }: Help): Promise<State> {
  const log = await world.openLog(id);
  const own: Parts = {
    ...parts,
    ...world.beside(id),
    log,
    checkpoints: undefined,
    budget: undefined,
    recover: (task) => crew.recover(task),
  };
  crew.equip(own);
  const settings = state.settings ?? {
    model: "",
    permissionMode: "default" as const,
    thinking: { kind: "off" as const },
  };
  const start = { keel: world.version, cwd: state.opened?.cwd ?? "", settings };
  const session = await Session.open(own, { start, unfinished: "lost" });
  for (const { id: inputId } of session.state.pending) await session.submit({ type: "drop", inputId });
  await session.close("failed");
  return session.state;
}
