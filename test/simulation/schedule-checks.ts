/**
 * The laws of due times, from the book and the log alone: nobody starts one twice, none is passed over but by its policy,
 * each that was begun comes to one end, and the session is told in order and of nothing else.
 */
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { textOf } from "../../keel/src/protocol/message.ts";
import { endsWell } from "../../keel/src/protocol/reasons.ts";
import type { Schedule, ScheduledRun } from "../../keel/src/protocol/schedule.ts";
import type { Schedules } from "./schedules.ts";

export function scheduleComplaints(schedules: Schedules, log: readonly Durable[]): string[] {
  return schedules.all.flatMap((schedule) => [
    ...wrongClaims(schedule, schedules),
    ...passedOver(schedule, schedules),
    ...wrongEnds(schedule, schedules.runsOf(schedule.id), log),
    ...wrongWords(schedule, schedules.runsOf(schedule.id), log),
  ]);
}

function grid({ when, until = 0 }: Schedule): number[] {
  if (when.kind !== "every") return [];
  const count = Math.floor((until - when.from) / when.ms);
  return Array.from({ length: count }, (_, at) => when.from + (at + 1) * when.ms);
}

function* wrongClaims(schedule: Schedule, { history }: Schedules): Generator<string> {
  const due = new Set(grid(schedule));
  const seen = new Set<number>();
  for (const entry of history) {
    if (entry.kind !== "claimed" || entry.schedule !== schedule.id) continue;
    if (!due.has(entry.due)) yield `${schedule.id} was never due at ${entry.due}`;
    if (seen.has(entry.due)) yield `${schedule.id}, due ${entry.due}, was claimed twice`;
    seen.add(entry.due);
  }
}

/**
 * Whoever has looked when a due time was there has claimed it, unless a later one had been. With `all` that is no excuse;
 * with the others only the last of what nobody was there for counts, so a later one must have been due as well.
 */
function* passedOver(schedule: Schedule, { history }: Schedules): Generator<string> {
  const own = history.filter((entry) => entry.schedule === schedule.id);
  const claimed = new Set(own.flatMap((entry) => (entry.kind === "claimed" ? [entry.due] : [])));
  const longest = schedule.jitterMs;
  for (const due of grid(schedule)) {
    if (claimed.has(due)) continue;
    let last = 0;
    for (const entry of own) {
      if (entry.kind === "claimed") {
        last = Math.max(last, entry.due);
        if (schedule.missed === "all" && entry.due > due)
          yield `${schedule.id}, due ${due}, was passed over for ${entry.due}`;
        continue;
      }
      if (last < due && entry.at >= due + longest)
        yield `${schedule.id}, due ${due}, was not claimed by who looked at ${entry.at}`;
    }
  }
}

function* wrongEnds(
  { id, retries }: Schedule,
  runs: readonly ScheduledRun[],
  log: readonly Durable[],
): Generator<string> {
  const accepted = new Set(log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : [])));
  const ends = new Map(
    log.flatMap((event) =>
      event.type === "turn.finished" ? event.inputIds.map((input) => [input, event.reason] as const) : [],
    ),
  );
  for (const { due, inputs, end, startedAt } of runs) {
    const name = `${id}, due ${due},`;
    if (!end) yield `${name} never came to its end`;
    if (inputs.length > retries + 1) yield `${name} was tried ${inputs.length} times`;
    if (end?.how === "skipped" && (startedAt !== undefined || inputs.some((input) => accepted.has(input))))
      yield `${name} was skipped and told`;
    const reason = ends.get(inputs.at(-1) ?? "");
    if (end?.how === "done" && (reason === undefined || !endsWell(reason)))
      yield `${name} is said to be done, and its turn ended as ${reason}`;
  }
}

function* wrongWords(
  { id, prompt }: Schedule,
  runs: readonly ScheduledRun[],
  log: readonly Durable[],
): Generator<string> {
  const dueOf = new Map(runs.flatMap(({ inputs, due }) => inputs.map((input) => [input, due] as const)));
  let before = 0;
  for (const event of log) {
    if (event.type !== "input.accepted" || textOf(event.input.content) !== prompt) continue;
    const due = dueOf.get(event.input.id);
    if (due === undefined) yield `${id} told ${event.input.id}, which is of no due time`;
    else if (due < before) yield `${id} told what was due ${due} after what was due ${before}`;
    before = due ?? before;
  }
}
