import { expect, test } from "vitest";
import { SettledAsks } from "./attach.ts";

const closed = (askId: string, who?: string) => ({
  type: "ask.closed" as const,
  askId,
  answer: { verdict: "allow" as const },
  by: "host" as const,
  ...(who === undefined ? {} : { who }),
  seq: 1,
  at: 1,
  session: "s",
});
const late = (askId: string) => ({ type: "late" as const, askId, why: "unknown" as const });

test("a late answer is told who was first, also when the session has forgotten the question", () => {
  const settled = new SettledAsks();
  settled.hear(closed("a", "a phone"));
  expect(settled.name(late("a"))).toEqual({
    type: "late",
    askId: "a",
    why: "closed",
    by: "host",
    who: "a phone",
  });
  expect(settled.name(late("b"))).toEqual(late("b"));
  expect(settled.name({ type: "answered", askId: "a" })).toEqual({ type: "answered", askId: "a" });
});

test("what was settled long ago is forgotten first", () => {
  const settled = new SettledAsks();
  for (let count = 0; count < 1_000; count++) settled.hear(closed(`a${count}`));
  expect(settled.name(late("a0"))).toEqual(late("a0"));
  expect(settled.name(late("a999"))).toMatchObject({ why: "closed", by: "host" });
});
