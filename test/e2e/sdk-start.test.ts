// `import "keel"` is cheap: what is heavy is loaded by the first query, not by the import.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

type Output = { bytes: number; imports: { path: string; kind: string }[]; inputs: Record<string, unknown> };

const dist = path.join(import.meta.dirname, "../../keel/dist");

describe("the import of the SDK", () => {
  test("loads less than 100 KB, and neither schemas nor the engine", () => {
    const { outputs }: { outputs: Record<string, Output> } = JSON.parse(
      readFileSync(path.join(dist, "metafile.json"), "utf8"),
    );
    const entry = Object.keys(outputs).find((name) => /\/index-entry\.js$/.test(name)) ?? "";
    const loaded = new Map<string, Output>();
    const load = (name: string): void => {
      const output = outputs[name];
      if (!output || loaded.has(name)) return;
      loaded.set(name, output);
      for (const { path: next, kind } of output.imports) if (kind === "import-statement") load(next);
    };
    load(entry);
    const sources = [...loaded.values()].flatMap(({ inputs }) => Object.keys(inputs));
    expect(sources).toContain("keel/src/sdk/query/query.ts");
    expect(sources.filter((source) => /node_modules|src\/(engine|store|models)\//.test(source))).toEqual([]);
    expect([...loaded.values()].reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(100_000);
  });
});
