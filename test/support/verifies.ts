// A test cites the requirements that it proves: `verifies("S0.61")` as the first line of its body.
import { TestRunner } from "vitest";
import type { RequirementId } from "./requirements.ts";

declare module "vitest" {
  interface TaskMeta {
    verifies?: string[];
  }
}

/** Counts only when the test passes; the reporter reads it from the task's meta. */
export function verifies(...ids: [RequirementId, ...RequirementId[]]): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error(`verifies(${ids.join(", ")}) must be called inside a test`);
  test.meta.verifies = [...(test.meta.verifies ?? []), ...ids];
}
