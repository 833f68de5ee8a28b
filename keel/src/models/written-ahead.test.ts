import { expect, test } from "vitest";
import type { ModelRequest } from "../ports/model.ts";
import { writtenAhead } from "./encoding.ts";

const request = (session: string): ModelRequest => ({
  model: "m",
  system: [],
  tools: [],
  messages: [],
  maxOutputTokens: 1,
  thinking: { kind: "off" },
  session,
});

test("what was made ahead is taken once, by the request that it was made of", () => {
  let made = 0;
  const ahead = writtenAhead(({ session }) => `${session} ${++made}`);
  const [one, two] = [request("one"), request("two")];
  ahead.prepare(one);
  expect(ahead.take(one)).toBe("one 1");
  expect(ahead.take(one)).toBe("one 2");
  ahead.prepare(one);
  // Another request may look the same and be something else by now.
  expect(ahead.take(two)).toBe("two 4");
  expect(ahead.take({ ...one })).toBe("one 5");
});

test("what cannot be made is told to whoever takes it, not to whoever prepares it", () => {
  const ahead = writtenAhead(() => {
    throw new Error("no");
  });
  const one = request("one");
  ahead.prepare(one);
  expect(() => ahead.take(one)).toThrow("no");
});
