import { expect, test } from "vitest";
import type { Durable, DurableEvent } from "../../protocol/event/durable.ts";
import { takeUpLeft } from "./left-work.ts";

const session = "0198c0de-0000-7000-8000-000000000001";
const settings = { model: "m", permissionMode: "default" as const, thinking: { kind: "off" as const } };
const input = { id: "i1", content: [], from: { kind: "person" as const }, when: "after" as const };
const log = (...events: DurableEvent[]): Durable[] =>
  events.map((event, index) => ({ seq: index + 1, at: 1, session, ...event }));
const opened: DurableEvent = { type: "session.opened", keel: "0", cwd: "/w", settings };
const accepted: DurableEvent = { type: "input.accepted", input };
const started: DurableEvent = { type: "turn.started", turnId: "t1", inputIds: ["i1"] };

async function taken(logs: Record<string, Durable[] | "unreadable">, isClosing = () => false) {
  const used: string[] = [];
  await takeUpLeft({
    home: {
      leftOpen: async (ids) => [...ids],
      sessions: {
        async *read(id: string) {
          const events = logs[id];
          if (!Array.isArray(events)) throw new Error("damaged");
          yield* events;
        },
      } as unknown as Parameters<typeof takeUpLeft>[0]["home"]["sessions"],
    },
    ids: Object.keys(logs),
    use: async (id) => {
      used.push(id);
      if (id === "refuses") throw new Error("busy");
    },
    isClosing,
  });
  return used.sort();
}

test("sessions with an input that waits or a turn that has not ended are taken up, and no others", async () => {
  const logs = {
    waiting: log(opened, accepted),
    running: log(opened, accepted, started),
    refuses: log(opened, accepted),
    quiet: log(opened),
    dropped: log(opened, accepted, { type: "input.dropped", inputId: "i1", why: "cancelled" }),
    damaged: "unreadable" as const,
  };
  expect(await taken(logs)).toEqual(["refuses", "running", "waiting"]);
});

test("a server that ends takes up nothing any more", async () => {
  expect(await taken({ waiting: log(opened, accepted) }, () => true)).toEqual([]);
});
