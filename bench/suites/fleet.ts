/** Many live sessions with tools, hooks and agents in one process, and a hostile one among them. */
import { type Contest, median, type Samples } from "../measure.ts";
import { type Bench, megabytes, type Suite } from "./suite.ts";

export const fleetSuite: Suite = async (bench) => ({
  contests: [fleetContest(bench), teamContest(bench), mailContest(bench)],
  close: async () => undefined,
});

type Voyage = {
  readonly idleBytes: number;
  readonly without: readonly number[];
  readonly withHostile: readonly number[];
  readonly leaks: number;
  readonly flooded: number;
};

/** Both sides come from the same process: how it was before and after the hostile session, and how with it. */
function fleetContest({ counts, programs, folder, bareStartBytes }: Bench): Contest {
  const { fleetSessions: sessions, fleetTurns: turns } = counts;
  let voyage: Promise<{ alone: Samples; beset: Samples }> | undefined;
  const sail = async (): Promise<{ alone: Samples; beset: Samples }> => {
    const options = { home: await folder(), cwd: await folder(), sessions, turns };
    const { result, peakBytes } = await programs.run<Voyage>("programs/fleet", options);
    if (result.leaks > 0) throw new Error(`${result.leaks} secrets stand in the log of another session.`);
    if (result.flooded < 1_000) throw new Error(`The hostile sessions did little: ${result.flooded} events.`);
    const sample = (times: readonly number[], bytes: number): Samples => ({
      turn: [median([...times])],
      late: [percentile(times, 0.99)],
      memory: [megabytes(bytes - bareStartBytes)],
    });
    return { alone: sample(result.without, result.idleBytes), beset: sample(result.withHostile, peakBytes) };
  };
  const side = (which: "alone" | "beset") => async (): Promise<Samples> => {
    const isFirst = voyage === undefined;
    voyage ??= sail();
    const samples = (await voyage)[which];
    if (!isFirst) voyage = undefined;
    return samples;
  };
  const what = `${sessions.toLocaleString("en")} live sessions`;
  return {
    name: "fleet",
    floor: { name: "the same without the hostile session", run: side("alone") },
    keel: { name: "keel with a hostile session", run: side("beset") },
    figures: [
      {
        key: "turn",
        name: `${what}: a turn, in the middle`,
        unit: "ms",
        goal: { kind: "ratio", most: 1.25 },
      },
      {
        key: "late",
        name: `${what}: a turn, one in a hundred`,
        unit: "ms",
        goal: { kind: "ratio", most: 2 },
      },
      {
        key: "memory",
        name: `${what} with tools, hooks and agents: peak memory beyond a bare start`,
        unit: "MB",
        goal: { kind: "value", most: 400 },
      },
    ],
  };
}

type TeamAtWork = { readonly bytes: number; readonly each: readonly number[] };

async function teamAtWork(
  { programs, folder }: Bench,
  options: { as: "sessions" | "team"; size: number; messages: number },
): Promise<TeamAtWork> {
  const place = { home: await folder(), cwd: await folder() };
  return (await programs.run<TeamAtWork>("programs/team", { ...place, ...options })).result;
}

/** All of them wait for their model. */
function teamContest(bench: Bench): Contest {
  const { teammates: size } = bench.counts;
  const run = (as: "sessions" | "team") => async (): Promise<Samples> => ({
    held: [megabytes((await teamAtWork(bench, { as, size, messages: 0 })).bytes)],
  });
  return {
    name: "team",
    floor: { name: `${size} plain sessions`, run: run("sessions") },
    keel: { name: `a leader with ${size} teammates`, run: run("team") },
    figures: [
      {
        key: "held",
        name: `memory that is held, ${size} at work`,
        unit: "MB",
        goal: { kind: "ratio", most: 1.5 },
      },
    ],
  };
}

/** A message costs the same, however many others there are. */
function mailContest(bench: Bench): Contest {
  const { teammates, teamMessages: messages } = bench.counts;
  const few = Math.max(5, Math.floor(teammates / 10));
  const run = (size: number) => async (): Promise<Samples> => ({
    message: [median([...(await teamAtWork(bench, { as: "team", size, messages })).each])],
  });
  return {
    name: "mail",
    floor: { name: `a team of ${few}`, run: run(few) },
    keel: { name: `a team of ${teammates}`, run: run(teammates) },
    figures: [
      {
        key: "message",
        name: "a message to one member, until it has it on record",
        unit: "ms",
        goal: { kind: "ratio", most: 1.25 },
      },
    ],
  };
}

function percentile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
