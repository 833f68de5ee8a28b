// Code in the guide that says where it comes from is what stands there.
import { expect, test } from "vitest";
import { examplesOf } from "../docs/examples.ts";
import { quotedOf } from "../docs/quoted.ts";

type Quoted = { page: string; file: string; region: string; code: string };

const quoted: Quoted[] = examplesOf("quoted").map(({ page, label, text }) => {
  const [, file = "", region = ""] = /^from (\S+)#(\S+)$/.exec(label) ?? [];
  return { page, file, region, code: text };
});

test("the guide quotes its examples", () => {
  expect(quoted.length).toBeGreaterThan(6);
});

test.each(quoted)(
  "$page shows $file#$region as it is, with the imports that it needs",
  ({ file, region, code }) => {
    expect(code).toBe(quotedOf(file, region));
  },
);
