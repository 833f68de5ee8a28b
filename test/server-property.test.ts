// Random disconnects, duplicates of reconnects and slow readers: each durable event exactly once and in order at every
// client, each command at most once, no ask answered twice. In memory, where a seed decides every fault.
import { expect, test } from "vitest";
import { clientOver, type KeelClient } from "../keel/src/client/connect.ts";
import { wireLink } from "../keel/src/client/wire-link.ts";
import { openConnection } from "../keel/src/hosts/server/connection.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import type { AnswerTo } from "../keel/src/protocol/operation.ts";
import { HandMovedTime, openFaultyWire, turns } from "./handle/faulty-wire.ts";
import { asksNowAndThen, runHands } from "./handle/several-hands.ts";
import { type Stage, serve, stage } from "./handle/stage.ts";
import { randomOf } from "./store/random.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const count = countOf("server-property");
/** A stage keeps what its model was asked. */
const seedsOfStage = 100;
/** Seeds that run side by side: while one waits for the disk or the model another goes on. */
const lanes = 6;
const stagesBetweenWords = 20;
const person = { access: "work" as const, name: "a test" };

async function runSeed(at: Stage, served: ReturnType<typeof serve>, number: number) {
  const random = randomOf(number);
  let ids = 0;
  const uuid = (): string =>
    `0198c0de-${String(number % 10_000).padStart(4, "0")}-7000-8000-${String(++ids).padStart(12, "0")}`;
  const open = { cwd: at.cwd, options: { model: "claude-haiku-4-5" } };
  const { session } = (await served.call("open", open, person)) as AnswerTo<"open">;
  const clients = Array.from({ length: 3 }, (_, index): KeelClient => {
    const time = new HandMovedTime();
    const faults = { random: randomOf(number * 7 + index), time, faults: random.below(7) };
    const link = wireLink({
      open: () =>
        openFaultyWire(faults, (peer) =>
          openConnection({ served, peer, device: person, hello: { keel: "0", boot: "b" } }),
        ),
      timers: time,
    });
    return clientOver(link, {
      sleep: () => turns(1 + faults.random.below(5)),
      uuid,
      random: () => faults.random.below(1_000) / 1_000,
    });
  });
  try {
    return await runHands({
      random,
      session,
      clients,
      log: async () => {
        const events: Durable[] = [];
        for await (const event of at.home.sessions.read(session)) events.push(event);
        return events;
      },
      isWorking: async () =>
        ((await served.call("session", { session }, person)) as AnswerTo<"session">).working,
      pause: () => turns(1 + random.below(4)),
      rest: () => new Promise((resolve) => setTimeout(resolve, 3)),
      uuid,
    });
  } finally {
    for (const client of clients) client.close();
    await served.call("submit", { session, command: { type: "close" } }, person);
  }
}

const stages = Math.ceil(count / seedsOfStage);
test.each(Array.from({ length: stages }, (_, index) => index))(
  "whatever happens to the wires, nothing is lost, doubled or reordered (stage %i)",
  async (index) => {
    verifies("G43", "S3.7", "P16");
    const at = await stage(asksNowAndThen);
    const served = serve(at);
    const sum = { events: 0, answered: 0, late: 0 };
    const numbers = Array.from(
      { length: Math.min(seedsOfStage, count - index * seedsOfStage) },
      (_, offset) => seed() + index * seedsOfStage + offset,
    );
    const left = [...numbers];
    const lane = async (): Promise<void> => {
      for (let number = left.shift(); number !== undefined; number = left.shift()) {
        const got = await runSeed(at, served, number).catch((thrown: unknown) => {
          throw new Error(
            `seed ${number}: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}`,
          );
        });
        sum.events += got.events;
        sum.answered += got.answered;
        sum.late += got.late;
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    // A long run that is cut short has still shown something.
    if ((index + 1) % stagesBetweenWords === 0)
      process.stderr.write(
        `server-property: ${(index + 1) * seedsOfStage} of ${count} seeds from ${seed()} on\n`,
      );
    // That something happened.
    expect(sum.events).toBeGreaterThan(numbers.length * 20);
    expect(sum.answered).toBeGreaterThan(0);
    expect(sum.late).toBeGreaterThan(0);
  },
  600_000,
);
