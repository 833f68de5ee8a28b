// What is surely an event by its shape is one by its schema, and stays as it is: else a log would be read wrongly.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { countOf, seed } from "../../../../test/support/budget.ts";
import { durableEventSchema } from "../../protocol/event/durable.ts";
import { decodeLine } from "./line.ts";
import { isSurelyEvent } from "./records.ts";

const golden = path.resolve(import.meta.dirname, "../../../../test/golden/logs");

const records = readdirSync(golden, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".jsonl"))
  .flatMap((file) => readFileSync(path.join(golden, file), "utf8").split("\n"))
  .filter((line) => line.startsWith('{"seq":'))
  .map((line) => decodeLine(Buffer.from(line)) ?? {});

test("most records of real logs are known by their shape alone", () => {
  const sure = records.filter(isSurelyEvent);
  expect(records.length).toBeGreaterThan(100);
  expect(sure.length).toBeGreaterThan(records.length * 0.9);
});

test("whatever has the shape of an event is one, and its schema changes nothing in it", () => {
  const random = generator(seed());
  let sure = 0;
  for (let round = 0; round < countOf("log-mutations") * 100; round++) {
    const [record, other] = [pick(records, random), pick(records, random)];
    const changed = change(structuredClone(record), other, random);
    if (!isSurelyEvent(changed)) continue;
    sure += 1;
    const { seq: _, at: __, session: ___, ...event } = changed;
    expect(durableEventSchema.parse(event)).toStrictEqual(event);
  }
  expect(sure).toBeGreaterThan(100);
});

/** Puts something else at a random place: of another record, of another kind, nothing, or something more. */
function change(value: unknown, other: unknown, random: () => number): unknown {
  if (typeof value !== "object" || value === null || random() < 0.1) return replacement(other, random);
  const keys = Object.keys(value);
  const key =
    keys.length === 0 || random() < 0.1
      ? pick(Array.isArray(value) ? ["0", "5"] : ["more", "__proto__", "0"], random)
      : pick(keys, random);
  if (random() < 0.1) {
    Reflect.deleteProperty(value, key);
    return value;
  }
  // As an own member, also when it is called `__proto__`, as JSON makes it.
  const before: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
  const fresh = {
    value: change(before, other, random),
    enumerable: true,
    writable: true,
    configurable: true,
  };
  Object.defineProperty(value, key, fresh);
  return value;
}

function replacement(other: unknown, random: () => number): unknown {
  const parts = [
    null,
    true,
    "text",
    7,
    -0,
    Number.NaN,
    undefined,
    [],
    {},
    [1],
    new Date(0),
    partOf(other, random),
  ];
  return pick(parts, random);
}

function partOf(value: unknown, random: () => number): unknown {
  if (typeof value !== "object" || value === null || random() < 0.3) return value;
  return partOf(pick(Object.values(value), random), random);
}

const pick = <T>(all: readonly T[], random: () => number): T => all[Math.floor(random() * all.length)] as T;

/** Numbers in [0, 1) from a seed. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
