/** One try of a scheduled run: its words become an input of its session, and the log says what came of it. */
import { present } from "../../kernel/json.ts";
import type { DurableEvent } from "../../protocol/event/durable.ts";
import { isDurable } from "../../protocol/event/envelope.ts";
import { text } from "../../protocol/message.ts";
import { endsWell } from "../../protocol/reasons.ts";
import type { Schedule, ScheduledRun } from "../../protocol/schedule.ts";
import type { OpenSession } from "../open-session.ts";
import type { Opening } from "../sessions/openings.ts";
import type { TryEnd } from "./scheduler.ts";

/** What is needed of the session that is told. */
export type ToldSession = Pick<
  OpenSession,
  "onEvent" | "submit" | "history" | "openAsks" | "leave" | "closed"
>;

export type PerformPorts = {
  /** The session of this id, open: taken up where there is one, begun where there is none and `opening` says how. */
  use(id: string, opening: Opening | undefined): Promise<ToldSession>;
  /** Whether somebody can answer what is asked while this process runs. */
  readonly asks: "answered" | "left";
};

export async function performRun(
  schedule: Schedule,
  run: ScheduledRun,
  { use, asks, signal }: PerformPorts & { readonly signal: AbortSignal },
): Promise<TryEnd> {
  const input = run.inputs.at(-1) ?? "";
  if (signal.aborted && run.startedAt === undefined) return { kind: "failed", why: "replaced" };
  const session = await use(
    run.session,
    schedule.session === undefined ? openingOf(schedule, run) : undefined,
  );
  const settled = Promise.withResolvers<TryEnd>();
  let isLeaving = false;
  /** Where nobody can answer, the question waits on in the log, and the run with it. */
  const leave = async (): Promise<void> => {
    if (asks === "answered" || isLeaving || session.openAsks().length === 0) return;
    isLeaving = true;
    if (await session.leave()) settled.resolve({ kind: "asks" });
    else isLeaving = false;
  };
  const stop = session.onEvent((event) => {
    if (event.origin === undefined && isDurable(event)) settleBy(event, input, settled.resolve);
    // What runs beside the question may end after it.
    if (event.type === "ask.opened" || event.type === "tool.finished") void leave();
  });
  let isOver = false;
  /** While it still waits, the turn that runs is somebody else's: then it is taken back, and nothing is interrupted. */
  const interrupt = async (): Promise<void> => {
    const dropped = await session.submit({ type: "drop", inputId: input });
    const hadBegun = dropped.type === "dropped" && !dropped.found;
    if (hadBegun && !isOver) await session.submit({ type: "interrupt" });
  };
  const end = (): void => void interrupt().catch(() => undefined);
  try {
    // The same id is the same input: after a crash it is not said again.
    await session.submit({
      type: "input",
      id: input,
      content: [text(schedule.prompt)],
      ...(schedule.by === undefined
        ? {}
        : { from: { kind: "channel" as const, name: `schedule ${schedule.id}` }, words: "as-is" as const }),
    });
    for await (const event of session.history()) settleBy(event, input, settled.resolve);
    await leave();
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const gone = session.closed.then((): TryEnd | Promise<TryEnd> =>
      isLeaving ? settled.promise : { kind: "failed", why: "closed" },
    );
    return await Promise.race([settled.promise, gone]);
  } finally {
    isOver = true;
    stop();
    signal.removeEventListener("abort", end);
  }
}

function settleBy(event: DurableEvent, input: string, settle: (end: TryEnd) => void): void {
  if (event.type === "turn.finished" && event.inputIds.includes(input))
    settle({
      kind: endsWell(event.reason) ? "done" : "failed",
      why: event.reason,
      ...present({ costUsd: event.costUsd }),
    });
  if (event.type === "input.dropped" && event.inputId === input) settle({ kind: "failed", why: event.why });
}

/** Its own word for the session comes first: a prompt cannot name another one. */
const openingOf = ({ id, cwd, options }: Schedule, { due, session }: ScheduledRun): Opening => ({
  cwd,
  options: { title: `${id}, due ${new Date(due).toISOString()}`, ...options, sessionId: session },
});
