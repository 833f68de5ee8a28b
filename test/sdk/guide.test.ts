// Code in the guide that says where it comes from is what stands there.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const folder = path.join(root, "docs/guide");

type Quoted = { page: string; file: string; region: string; code: string };

const quoted: Quoted[] = readdirSync(folder).flatMap((page) => {
  const text = readFileSync(path.join(folder, page), "utf8");
  return [...text.matchAll(/^```\w+ from (\S+)#(\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, file = "", region = "", code = ""]) => ({ page, file, region, code }),
  );
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
