// The official SDK drives the built command, where that package is installed: outside of this repository, named by
// KEEL_OFFICIAL_SDK. The scenarios of the conformance kit are run as they are; what is not built yet is named here.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { command } from "./stage.ts";

const sdk = process.env["KEEL_OFFICIAL_SDK"] ?? "";
const kit = path.resolve(import.meta.dirname, "../conformance/run.mjs");
const isHere = sdk !== "";
if (!isHere) notRunHere("the official SDK on our executable", "KEEL_OFFICIAL_SDK is not set");

/** Scenarios that an executable cannot pass, or that Keel answers otherwise on purpose. */
const apart: Readonly<Record<string, string>> = {
  "sessions/session-id":
    "counts transcripts in both homes: Keel's log, and the copy in which the SDK itself looks for sessions",
};

type Verdict = { family: string; scenario: string; status: "passed" | "failed"; differences: string[] };

const families = [
  "agents",
  "context",
  "control",
  "core",
  "details",
  "errors",
  "hooks",
  "limits",
  "lines",
  "mcp",
  "permissions",
  "reference",
  "sessions",
  "tools",
];

describe.runIf(isHere)("the official SDK with our executable", () => {
  test.each(families)("the scenarios of %s", { timeout: 600_000 }, async (family) => {
    verifies("S2.10");
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [kit, "--sdk", sdk, "--executable", command, "--only", `^${family}/`, "--json", "--jobs", "2"],
      { maxBuffer: 64 * 1024 * 1024 },
    ).catch((failed: { stdout: string }) => failed);
    const verdicts = stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line): Verdict => JSON.parse(line));
    expect(verdicts.length).toBeGreaterThan(0);
    const failed = verdicts
      .filter(({ status }) => status !== "passed")
      .filter(({ family: of, scenario }) => !Object.hasOwn(apart, `${of}/${scenario}`));
    expect(failed).toEqual([]);
  });
});
