// Code in the guide that says where it comes from is what stands there.
import { expect, test } from "vitest";
import { examplesOf } from "../docs/examples.ts";
import type { Fence } from "../docs/fences.ts";
import { quotedOf, regionOf } from "../docs/quoted.ts";

type Quoted = { page: string; file: string; region: string; code: string };

const placed = ({ page, label, text }: Fence): Quoted => {
  const [, file = "", region = ""] = / (\S+)#(\S+)$/.exec(label) ?? [];
  return { page, file, region, code: text };
};
const quoted = examplesOf("quoted").map(placed);
const parts = examplesOf("part").map(placed);

test("the guide quotes its examples", () => {
  expect(quoted.length).toBeGreaterThan(6);
});

test.each(quoted)(
  "$page shows $file#$region as it is, with the imports that it needs",
  ({ file, region, code }) => {
    expect(code).toBe(quotedOf(file, region));
  },
);

test.each(parts)("$page shows $file#$region as it is", ({ file, region, code }) => {
  expect(code).toBe(regionOf(file, region));
});
