import fc from "fast-check";
import { expect, test } from "vitest";
import { spoken } from "./spoken.ts";

test("what is marked as internal is kept apart, and the rest is said", () => {
  expect(spoken("Hello.\n\n<internal>They asked twice.</internal>\n\nIt is done.")).toEqual({
    said: "Hello.\n\nIt is done.",
    internal: ["They asked twice."],
  });
  expect(spoken("<INTERNAL kind='x'>only this</Internal>")).toEqual({ said: "", internal: ["only this"] });
  expect(spoken("as it stands")).toEqual({ said: "as it stands", internal: [] });
});

test("one inside of another does not end the outer one", () => {
  expect(spoken("a<internal>b<internal>c</internal>d</internal>e").said).toBe("ae");
});

test("what is never closed is internal to the end, and an end without a start is left out", () => {
  expect(spoken("a <internal>b c").said).toBe("a");
  expect(spoken("a </internal>b").said).toBe("a b");
  expect(spoken("a <internal").said).toBe("a");
});

test("whatever the tags: nothing that stands inside of one is said", () => {
  const part = fc.constantFrom("<internal>", "</internal>", "<internal ", ">", "<", "open", "\n", " ");
  fc.assert(
    fc.property(fc.array(part), fc.array(part), (before, inside) => {
      const text = `${before.join("")}<internal>secret${inside.filter((one) => one !== "</internal>").join("")}`;
      expect(spoken(text).said).not.toContain("secret");
      expect(spoken(text).said.toLowerCase()).not.toContain("<internal>");
    }),
    { numRuns: 2_000 },
  );
});
