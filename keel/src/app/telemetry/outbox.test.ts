import { expect, test } from "vitest";
import { instantClock } from "../../testing/fake-clock.ts";
import type { TraceSpan } from "../../time/trace/spans.ts";
import type { SpanCollector } from "./collector.ts";
import { type EndedSpan, Outbox } from "./outbox.ts";

const spanOf = (seq: number): TraceSpan => ({
  traceId: "1".repeat(32),
  spanId: seq.toString(16).padStart(16, "0"),
  parentId: undefined,
  name: "chat m",
  kind: "client",
  startMs: seq,
  endMs: seq,
  attributes: {},
});

/** Two spans for each event. */
const ended = (count: number, from = 0): EndedSpan[] =>
  Array.from({ length: count }, (_, at) => ({
    session: "s",
    seq: Math.floor((from + at) / 2),
    span: spanOf(from + at + 1),
  }));

function stage(answer: (tries: number) => Awaited<ReturnType<SpanCollector["send"]>>) {
  const taken: string[] = [];
  const marks: number[] = [];
  const said: string[] = [];
  let tries = 0;
  const outbox = new Outbox({
    collector: {
      async send(spans) {
        const delivery = answer(++tries);
        if (delivery.kind === "taken") taken.push(...spans.map(({ spanId }) => spanId));
        return delivery;
      },
      close: () => undefined,
    },
    clock: instantClock(),
    settled: async (batch) => void marks.push(batch.at(-1)?.seq ?? -1),
    tell: (words) => void said.push(words),
  });
  return { outbox, taken, marks, said };
}

test("ten thousand spans at once are all taken, in order, and what one event ended stands together", async () => {
  const { outbox, taken, marks, said } = stage(() => ({ kind: "taken" }));
  outbox.add(ended(10_000));
  await outbox.flush();
  expect(taken).toEqual(ended(10_000).map(({ span }) => span.spanId));
  expect(marks.every((mark, at) => mark > (marks[at - 1] ?? -1))).toBe(true);
  expect(outbox.isEmpty).toBe(true);
  expect(said).toEqual([]);
});

test("what does not get through is tried again, and said once", async () => {
  const { outbox, taken, said } = stage((tries) =>
    tries < 4 ? { kind: "later", why: "it is busy" } : { kind: "taken" },
  );
  outbox.add(ended(4));
  await outbox.flush();
  expect(taken).toHaveLength(4);
  expect(said).toEqual(["Spans cannot be sent now and stay in the log: it is busy."]);
});

test("more than memory may hold is let go, and is there again when the log is read", async () => {
  const { outbox, taken } = stage(() => ({ kind: "taken" }));
  outbox.add(ended(9_000));
  outbox.add(ended(9_000, 9_000));
  expect(outbox.isBehind).toBe(true);
  expect(outbox.isEmpty).toBe(false);
  outbox.catchUp();
  for (let from = 0; from < 18_000; from += 3_000) {
    outbox.add(ended(3_000, from));
    await outbox.flush();
  }
  expect(new Set(taken).size).toBe(18_000);
});

test("what is refused is counted and not tried again", async () => {
  const { outbox, said } = stage(() => ({ kind: "refused", why: "the collector answered 400" }));
  outbox.add(ended(700));
  await outbox.flush();
  expect(outbox.refused).toBe(700);
  expect(said.at(-1)).toBe("700 spans were not taken and are lost to it: the collector answered 400.");
  expect(outbox.isEmpty).toBe(true);
});
