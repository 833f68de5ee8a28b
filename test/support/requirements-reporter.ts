// Writes, after a run, how many tests passed and which requirements a passing test has proven.
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export type Report = {
  readonly at: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Requirement id → the tests that cite it, by outcome. A citation in a failed test proves nothing. */
  readonly citations: Record<string, { passed: string[]; failed: string[] }>;
};

export default class RequirementsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env["KEEL_TEST_REPORT"];
    if (file) writeFileSync(file, `${JSON.stringify(reportOf(modules, unhandled.length), null, 2)}\n`);
  }
}

function reportOf(modules: readonly TestModule[], unhandled: number): Report {
  const citations: Report["citations"] = {};
  const counts = { passed: 0, failed: unhandled, skipped: 0 };
  for (const module of modules) {
    // A file that does not load has no tests that could fail: count it itself.
    if (module.errors().length > 0) counts.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "pending") continue;
      counts[state] += 1;
      if (state === "skipped") continue;
      for (const id of test.meta().verifies ?? []) {
        citations[id] ??= { passed: [], failed: [] };
        citations[id][state].push(`${module.relativeModuleId}: ${test.fullName}`);
      }
    }
  }
  return { at: new Date().toISOString(), ...counts, citations };
}
