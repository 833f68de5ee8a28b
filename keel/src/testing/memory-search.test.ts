import { describe, expect, test } from "vitest";
import type { TextSearchRequest } from "../ports/search.ts";
import { memoryWorkspace } from "./memory-workspace.ts";

const signal = new AbortController().signal;
const { search, files } = memoryWorkspace({
  files: { "src/a.ts": "one\nneedle two\nthree\n", "b.md": "Needle\n", "/elsewhere/c.ts": "needle\n" },
});
const plain: TextSearchRequest = {
  ...{ target: "/project", pattern: "needle", mode: "lines", before: 0, after: 0 },
  ...{ letterCase: "exact", lines: "each", show: "line", timeoutMs: 0, maxBytes: 0 },
};
const text = async (more: Partial<TextSearchRequest> = {}): Promise<string[]> => {
  const found = await search.text({ ...plain, ...more }, signal);
  if (!found.ok) return [found.why];
  return found.files.flatMap(({ path, matches, lines }) =>
    lines.length === 0
      ? [`${path} ${matches}`]
      : lines.map((line) => `${path}${line.isMatch ? ":" : "-"}${line.number} ${line.text}`),
  );
};

describe("search in memory", () => {
  test("finds files by a glob, the one that was written last first", async () => {
    const request = { directory: "/project", rests: ["**"], timeoutMs: 0 };
    expect(await search.files(request, signal)).toEqual({
      ...{ ok: true, end: "complete", problems: [] },
      paths: ["/project/b.md", "/project/src/a.ts"],
    });
    files.put("src/a.ts", files.text("src/a.ts") ?? "");
    expect(await search.files(request, signal)).toMatchObject({
      paths: ["/project/src/a.ts", "/project/b.md"],
    });
    expect(await search.files({ ...request, rests: ["*.md"] }, signal)).toMatchObject({
      paths: ["/project/b.md"],
    });
  });

  test("finds text as the real one does", async () => {
    expect(await text()).toEqual(["/project/src/a.ts:2 needle two"]);
    expect(await text({ letterCase: "any", mode: "counts" })).toEqual([
      ...["/project/b.md 1", "/project/src/a.ts 1"],
    ]);
    expect(await text({ before: 1, after: 1 })).toEqual([
      ...["/project/src/a.ts-1 one", "/project/src/a.ts:2 needle two", "/project/src/a.ts-3 three"],
    ]);
    expect(await text({ pattern: "n\\w+", show: "match" })).toEqual([
      ...["/project/src/a.ts:1 ne", "/project/src/a.ts:2 needle"],
    ]);
    expect(await text({ pattern: "two.three", lines: "across" })).toEqual([
      ...["/project/src/a.ts:2 needle two", "/project/src/a.ts:3 three"],
    ]);
    expect(await text({ letterCase: "any", glob: "*.md" })).toEqual(["/project/b.md:1 Needle"]);
    expect(await text({ letterCase: "any", glob: "!*.md" })).toEqual(["/project/src/a.ts:2 needle two"]);
    expect(await text({ target: "/elsewhere/c.ts" })).toEqual(["/elsewhere/c.ts:1 needle"]);
    expect(await text({ pattern: "(" })).toEqual([expect.stringContaining("Unterminated group")]);
  });
});
