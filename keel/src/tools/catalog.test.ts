import { expect, test } from "vitest";
import { verifies } from "../../../test/verifies.ts";
import { builtInTools } from "./catalog.ts";

test("the built-in tools are sorted, described, and short", () => {
  verifies("S4.15");
  const tools = builtInTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([
    ...[
      "Bash",
      "Edit",
      "Glob",
      "Grep",
      "MultiEdit",
      "NotebookEdit",
      "Read",
      "TaskOutput",
      "TaskStop",
      "Write",
    ],
  ]);
  expect(names).toEqual(names.toSorted());
  for (const { name, description, input } of tools) {
    expect(input.json, name).toMatchObject({ type: "object" });
    expect(JSON.stringify({ name, description, input_schema: input.json }).length, name).toBeLessThan(3_000);
  }
  // With the prompt they are the start of every request: 24 KB is too much.
  const specs = tools.map(({ name, description, input }) => ({
    name,
    description,
    input_schema: input.json,
  }));
  expect(JSON.stringify(specs).length).toBeLessThan(12_000);
});

test("every field of every tool is described to the model", () => {
  for (const { name, input } of builtInTools()) {
    const fields = Object.entries(input.json["properties"] ?? {});
    expect(fields.length, name).toBeGreaterThan(0);
    for (const [field, schema] of fields) expect(schema, `${name}.${field}`).toHaveProperty("description");
  }
});
