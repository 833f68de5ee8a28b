// The pauses between two tries to reach a server, on a clock that the test moves: doubling, bounded, spread, given up.
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { fault } from "../../kernel/fault.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import type { ChannelVia, ChannelWire } from "../../transport/node/channel-wire.ts";
import { keepChannel } from "./kept-channel.ts";

type Try = { readonly atMs: number; readonly via: ChannelVia };

/** Each try as `open` says; the clock goes on until it is over. */
async function tries(
  open: (count: number) => "lost" | "failed" | "refused" | "opens" | "opens and greets",
  { draw = 0, most = 40 }: { draw?: number; most?: number } = {},
): Promise<{ made: Try[]; end: string }> {
  const clock = fakeClock();
  const made: Try[] = [];
  const stop = new AbortController();
  let end = "";
  const kept = keepChannel(
    {
      retry: { clock, draw: () => draw },
      async open(via) {
        made.push({ atMs: clock.monotonicMs(), via });
        const how = open(made.length);
        if (how === "lost") throw fault("link_lost", { reason: "nobody is there" });
        if (how === "failed") throw fault("bridge_failed", { reason: "it is busy" });
        if (how === "refused") throw fault("bridge_refused", { reason: "not you" });
        return wireThat(how);
      },
      begin: (wire, greeted) => {
        if (wire.waitingBytes() === 1) greeted();
      },
      lost: () => undefined,
    },
    stop.signal,
  ).then(
    (how) => {
      end = how;
    },
    (thrown: unknown) => {
      end = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "thrown";
    },
  );
  while (end === "" && made.length < most) await clock.advance(1_000);
  stop.abort();
  await clock.advance(1_000);
  await kept;
  return { made, end };
}

/** It is cut as soon as it was opened. */
const wireThat = (how: "opens" | "opens and greets"): ChannelWire => ({
  send: () => undefined,
  onMessage: () => undefined,
  closed: Promise.resolve("cut"),
  close: () => undefined,
  waitingBytes: () => (how === "opens and greets" ? 1 : 0),
});

const gaps = (made: readonly Try[]): number[] =>
  made.slice(1).map(({ atMs }, index) => atMs - (made[index]?.atMs ?? 0));

test("a connection is tried after 2 s, doubling to 2 min, and given up when it was tried in vain for 10 min", async () => {
  verifies("S4.76");
  const { made, end } = await tries(() => "lost");
  expect(gaps(made)).toEqual([2, 4, 8, 16, 32, 64, 120, 120, 120, 120].map((seconds) => seconds * 1_000));
  expect(end).toBe("given-up");
  const last = made.at(-1)?.atMs ?? 0;
  expect(last).toBeGreaterThanOrEqual(600_000);
  // Where no socket gets through, the other way is tried in turn.
  expect(made.slice(0, 4).map(({ via }) => via)).toEqual(["websocket", "sse", "websocket", "sse"]);
});

test("everything else is tried after 0.5 s, doubling to 30 s, and given up after 10 min", async () => {
  verifies("S4.76");
  const { made, end } = await tries(() => "failed");
  const found = gaps(made);
  expect(found.slice(0, 8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(found.every((gap) => gap <= 30_000)).toBe(true);
  expect(end).toBe("given-up");
  expect(made.at(-1)?.atMs).toBeGreaterThanOrEqual(600_000);
  expect(made.at(-1)?.atMs).toBeLessThan(631_000);
});

test("pauses are spread by up to a quarter, and never longer than they should be", async () => {
  verifies("S4.76");
  const { made } = await tries(() => "lost", { draw: 0.9999 });
  const [first = 0, second = 0] = gaps(made);
  expect(first).toBe(1_500);
  expect(second).toBe(3_000);
  expect(Math.max(...gaps(made))).toBeLessThanOrEqual(120_000);
});

test("who was let in begins anew; a connection that opens and says nothing does not count as one", async () => {
  verifies("S4.76");
  const greeted = await tries((count) => (count === 4 ? "opens and greets" : "lost"), { most: 7 });
  expect(gaps(greeted.made)).toEqual([2_000, 4_000, 8_000, 2_000, 4_000, 8_000]);
  const silent = await tries((count) => (count === 4 ? "opens" : "lost"), { most: 7 });
  expect(gaps(silent.made)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000]);
});

test("a refusal is final", async () => {
  const { made, end } = await tries((count) => (count === 3 ? "refused" : "lost"));
  expect(made).toHaveLength(3);
  expect(end).toBe("bridge_refused");
});
