/** Background tasks whose end the model is to hear of: the command does not end before them, but not for ever. */

import { usage } from "../../../app/flags/arguments.ts";
import type { OpenSession } from "../../../app/open-session.ts";
import { unlessAborted } from "../../../kernel/abort.ts";
import type { Context } from "../context.ts";

type TaskSession = Pick<OpenSession, "tasks" | "idle" | "onEvent">;

const second = 1_000;
/** Longer than any build; a server that was started in the background would otherwise keep the command for ever. */
const defaultWaitSeconds = 600;

/** Who interrupts the command waits for nothing that goes on beside it: then `signal` has fired. */
export async function awaitTasks(
  session: TaskSession,
  { env, err }: Context,
  signal: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + waitSeconds(env["KEEL_TASK_WAIT"]) * second;
  for (;;) {
    const open = session.tasks().filter(({ reports }) => reports);
    if (open.length === 0) return;
    if (signal.aborted || performance.now() >= endsAt) {
      for (const { id, description } of open)
        err.line(`keel: still running, stopped now: ${description} (${id})`);
      return;
    }
    await untilTaskChanges(session, endsAt - performance.now(), signal);
    await session.idle();
  }
}

async function untilTaskChanges(session: TaskSession, ms: number, signal: AbortSignal): Promise<void> {
  const changed = Promise.withResolvers<void>();
  const timer = setTimeout(changed.resolve, ms);
  const stop = session.onEvent(({ type }) => type === "task.changed" && changed.resolve());
  await unlessAborted(changed.promise, signal).catch(() => undefined);
  clearTimeout(timer);
  stop();
}

function waitSeconds(named: string | undefined): number {
  if (!named) return defaultWaitSeconds;
  if (/^\d{1,6}$/.test(named)) return Number(named);
  throw usage("KEEL_TASK_WAIT must be a number of seconds.");
}
