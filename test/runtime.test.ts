import { expect, test } from "vitest";

test("tests run on the pinned Node, whatever Node is on the path", () => {
  expect(process.versions.node.split(".")[0]).toBe("24");
});
