// Code in the guide that says where it comes from is what stands there.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { examplesOf } from "../docs/examples.ts";

const root = path.join(import.meta.dirname, "../..");

type Quoted = { page: string; file: string; region: string; code: string };

const quoted: Quoted[] = examplesOf("quoted").map(({ page, label, text }) => {
  const [, file = "", region = ""] = /^from (\S+)#(\S+)$/.exec(label) ?? [];
  return { page, file, region, code: text };
});

function regionOf(file: string, name: string): string | undefined {
  const text = readFileSync(path.join(root, file), "utf8");
  const [, code] = new RegExp(`^// #region ${name}\\n([\\s\\S]*?)^// #endregion$`, "m").exec(text) ?? [];
  return code;
}

test("the guide quotes its examples", () => {
  expect(quoted.length).toBeGreaterThan(6);
});

test.each(quoted)("$page shows $file#$region as it is", ({ file, region, code }) => {
  expect(code).toBe(regionOf(file, region));
});
