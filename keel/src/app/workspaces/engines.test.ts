import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { workerKinds } from "../../protocol/workspace.ts";
import { engineOf, usualEngines } from "./engines.ts";

test("an engine drives one kind of worker, by its name; another name is no engine", () => {
  verifies("S3.21");
  expect(engineOf({ kind: "agent", engine: "keel" })?.kind).toBe("agent");
  for (const engine of ["toString", "__proto__", "claude-next", ""])
    for (const kind of workerKinds) expect(engineOf({ kind, engine })).toBeUndefined();
  expect(engineOf({ kind: "diff", engine: "keel" })).toBeUndefined();
});

test("each kind has an engine where nobody names one", () => {
  expect(Object.keys(usualEngines).sort()).toEqual([...workerKinds].sort());
});
