// How teams, schedules and goals are told: in words, and by what the log says of them.
import { expect, test } from "vitest";
import type { Envelope } from "../protocol/event/envelope.ts";
import { sayNext, sayRun, sayUntil } from "./say-schedule.ts";
import { sayMember, sayWait } from "./say-team.ts";
import { standingOf } from "./standing.ts";

const base = { at: 5, session: "s" };

test("a member is told with what it does, what it has and whom it waits for, each once", () => {
  const member = { name: "ben", session: "s", state: "asking", tasks: ["2", "3"] } as const;
  expect(
    sayMember({
      ...member,
      waits: [
        { for: "answer", about: "Bash" },
        { for: "task", of: "ann", about: "#1 Write it" },
        { for: "task", of: "ann", about: "#4 Test it" },
      ],
    }),
  ).toBe("asks · has #2, #3 · waits for you, ann");
  expect(sayMember({ ...member, state: "left", tasks: [], waits: [] })).toBe("left");
});

test("every wait is a sentence, also where nobody has the task yet", () => {
  expect(
    [
      { for: "task", of: "ann", about: "#1 Write it" } as const,
      { for: "task", about: "#1 Write it" } as const,
      { for: "answer", about: "Bash" } as const,
      { for: "plan", of: "main" } as const,
      { for: "report", of: "ann\u001b[31m" } as const,
    ].map(sayWait),
  ).toEqual([
    "waits for ann: #1 Write it",
    "waits for somebody to take #1 Write it",
    "waits for you: Bash",
    "waits for a word of main on its plan",
    expect.not.stringContaining("\u001b"),
  ]);
});

test("a schedule says when it starts next, and a run what became of it", () => {
  const minute = 60_000;
  expect([10, 50 * minute, 3 * 60 * minute, 26 * 60 * minute, 72 * 60 * minute].map(sayUntil)).toEqual([
    "now",
    "in 50 min",
    "in 3 h",
    "in 26 h",
    "in 3 days",
  ]);
  const schedule = {} as Parameters<typeof sayNext>[0]["schedule"];
  expect(sayNext({ schedule: { ...schedule, paused: true }, next: [1] }, 0)).toBe("paused");
  expect(sayNext({ schedule, next: [] }, 0)).toBe("over");
  expect([
    sayRun({}),
    sayRun({ startedAt: 1 }),
    sayRun({ end: { at: 1, how: "done", why: "completed" } }),
    sayRun({ end: { at: 1, how: "skipped", why: "queue_full" } }),
  ]).toEqual(["waits", "at work", "done", "skipped (queue full)"]);
});

test("the tries of a goal are those since it was set", () => {
  const tried = (count: number, held: boolean): Envelope => ({
    ...base,
    seq: count + 2,
    type: "goal.tried",
    goal: "g",
    try: count,
    held,
    words: "w",
  });
  const set = (goal: string): Envelope => ({
    ...base,
    seq: 9,
    type: "settings.changed",
    patch: { goal },
    why: "host",
  });
  expect(standingOf([tried(1, false), tried(2, true)]).tries).toEqual([
    { try: 1, held: false, words: "w", at: 5 },
    { try: 2, held: true, words: "w", at: 5 },
  ]);
  expect(standingOf([tried(1, false), set("another")]).tries).toEqual([]);
});

test("whoever looks at a team looks again when its list, a member, a message or a question says so, and not for each word", () => {
  const team = (change: "formed" | "ended"): Envelope => ({
    ...base,
    seq: 2,
    type: "team.changed",
    team: "crew",
    change,
  });
  const origin = { agentId: "a", parentCallId: "c", kind: "worker", depth: 1 };
  const asked = { ...base, origin, seq: 3, type: "ask.closed", askId: "x" } as unknown as Envelope;
  const word: Envelope = { ...base, type: "text.delta", requestId: "r", index: 0, text: "a" };
  const changes = (...events: Envelope[]) => standingOf(events).team;
  expect(changes(asked)).toEqual({ name: null, changes: 0 });
  const before = changes(team("formed"));
  expect(before.name).toBe("crew");
  expect(changes(team("formed"), word)).toEqual(before);
  expect(changes(team("formed"), asked).changes).toBeGreaterThan(before.changes);
  expect(changes(team("formed"), asked, team("ended")).name).toBeNull();
});
