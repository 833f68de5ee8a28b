/** Work that goes on by itself, for the gallery and for the terminal: a team, schedules, a goal with its tries. */
import type { Durable, Envelope, ScheduledRun, ScheduleEntry, TeamReport } from "keel/protocol";

const minute = 60_000;
const day = 86_400_000;

export const teamSample = (at: number): TeamReport => ({
  name: "checkout",
  description: "Brings prices in cents to the whole shop.",
  members: [
    {
      name: "main",
      session: "team",
      state: "resting",
      tasks: [],
      waits: [
        { for: "report", of: "ben" },
        { for: "report", of: "cleo" },
      ],
    },
    {
      name: "ann",
      kind: "reviewer",
      taskId: "agent-ann",
      session: "team-ann",
      state: "resting",
      since: at - 3 * minute,
      tasks: [],
      waits: [],
    },
    {
      name: "ben",
      kind: "worker",
      taskId: "agent-ben",
      session: "team-ben",
      state: "working",
      tasks: ["1"],
      waits: [],
    },
    {
      name: "cleo",
      kind: "worker",
      taskId: "agent-cleo",
      session: "team-cleo",
      state: "asking",
      tasks: ["2"],
      waits: [
        { for: "answer", about: "Bash" },
        { for: "task", of: "ben", about: "#1 Write the parser of prices" },
      ],
    },
    {
      name: "dan",
      kind: "worker",
      taskId: "agent-dan",
      session: "team-dan",
      state: "failed",
      tasks: [],
      waits: [],
    },
  ],
  messages: [
    { from: "main", to: "ben", text: "Begin with the parser.\nCleo needs it.", at: at - 7 * minute },
    { from: "cleo", to: "ben", text: "When can I have it?", at: at - minute },
    {
      from: "ben",
      to: "cleo",
      text: "In a few minutes: the numbers are still missing.",
      at: at - minute / 2,
    },
  ],
});

const run = (schedule: string, due: number, end?: ScheduledRun["end"]): ScheduledRun => ({
  schedule,
  due,
  claimedAt: due,
  session: "image",
  inputs: ["i1"],
  ...(end?.how === "skipped" ? {} : { startedAt: due }),
  ...(end ? { end } : {}),
});

export function scheduleSamples(at: number): ScheduleEntry[] {
  const schedule = (
    id: string,
    prompt: string,
    more: Partial<ScheduleEntry["schedule"]> = {},
  ): ScheduleEntry["schedule"] => ({
    id,
    when: { kind: "every", ms: 30 * minute, from: at - day },
    prompt,
    cwd: "/home/ada/shop",
    options: {},
    overlap: "skip",
    missed: "latest",
    lateMs: 5 * minute,
    jitterMs: 0,
    retries: 0,
    endsAfterMs: 240 * minute,
    from: at - day,
    createdAt: at - day,
    ...more,
  });
  const next = at + 32 * minute;
  return [
    {
      schedule: schedule("news", "Say what is new in the issues", {
        when: { kind: "cron", expression: "0 9 * * 1-5", zone: "Europe/Berlin" },
      }),
      next: [next, next + day, next + 2 * day],
      runs: [
        run("news", next - 2 * day, { at: next - 2 * day, how: "skipped", why: "missed" }),
        run("news", next - day, { at: next - day, how: "done", why: "completed", costUsd: 0.0213 }),
      ],
      open: 0,
    },
    {
      schedule: schedule("prices", "Look whether the prices of the shop are those of the list"),
      next: [at + 45 * minute],
      runs: [run("prices", at - 5 * minute)],
      open: 1,
    },
    {
      schedule: schedule("links", "Find links that lead nowhere any more", {
        when: { kind: "once", at: at - 60 * minute },
      }),
      next: [],
      runs: [run("links", at - 60 * minute, { at, how: "failed", why: "out_of_time" })],
      open: 0,
    },
    {
      schedule: schedule("backup", "Copy the drafts", { paused: true, cwd: "/home/ada/blog" }),
      next: [],
      runs: [],
      open: 0,
    },
  ];
}

type Place = { readonly at: number; readonly session: string; readonly seq: number };

/** A goal that held at the second try. */
export function goalEvents({ at, session, seq }: Place): Durable[] {
  const goal = "npm test passes";
  const words = "npm test ended with 1:\n ✗ a login of an hour ago is over\n 1 of 14 tests failed";
  const base = { at, session };
  return [
    { ...base, seq, type: "settings.changed", patch: { goal }, why: "host" },
    { ...base, seq: seq + 1, type: "goal.tried", goal, try: 1, held: false, words },
    { ...base, seq: seq + 2, type: "goal.tried", goal, try: 2, held: true, words: "npm test passed." },
  ];
}

/** A session that leads the team, made of one that was recorded. */
export function teamEvents(recorded: readonly Envelope[]): readonly Envelope[] {
  const before = recorded.filter((event) => "seq" in event && event.seq <= 9);
  const last = before.findLast((event): event is Durable => "seq" in event);
  if (!last) return [];
  const base = { at: last.at, session: last.session };
  let { seq } = last;
  const members = teamSample(last.at).members.slice(1);
  return [
    ...before,
    { ...base, seq: ++seq, type: "team.changed", team: "checkout", change: "formed" },
    ...members.map(
      ({ name, kind, taskId = "", session, state }): Durable => ({
        ...base,
        seq: ++seq,
        type: "task.changed",
        taskId,
        status: state === "failed" ? "failed" : state === "resting" ? "completed" : "running",
        data: { kind: "agent", agent: kind, session, depth: 1, name, team: "checkout", description: name },
      }),
    ),
    ...goalEvents({ ...base, seq: seq + 1 }),
  ];
}
