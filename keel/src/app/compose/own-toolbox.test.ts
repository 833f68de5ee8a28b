import { expect, test } from "vitest";
import { joinBoxes, ownTool, ownToolbox } from "./own-tools.ts";

const tool = (name: string) =>
  ownTool({
    name,
    description: "",
    json: { type: "object" },
    parse: (value) => ({ ok: true, value }),
    readOnly: true,
    run: async () => ({ content: [], failed: false }),
  });

test("the tools of a program change as a whole, and what was there is remembered", () => {
  const box = ownToolbox([tool("a"), tool("b")], ({ name }) => name !== "b");
  expect(box.tools().map(({ name }) => name)).toEqual(["a"]);
  const before = box.tools();
  expect(box.tools()).toBe(before);
  box.set([tool("c")]);
  expect(box.tools().map(({ name }) => name)).toEqual(["c"]);
  expect([box.knows("a"), box.knows("b"), box.knows("c")]).toEqual([true, false, true]);
});

test("several boxes are one, which stays the same while none of them changes", async () => {
  const [left, right] = [ownToolbox([tool("a")], () => true), ownToolbox([tool("b")], () => true)];
  const joined = joinBoxes([left, right]);
  await joined.ready(new AbortController().signal);
  expect(joined.tools()).toBe(joined.tools());
  right.set([]);
  expect(joined.tools().map(({ name }) => name)).toEqual(["a"]);
  expect(joined.knows("b")).toBe(true);
});
