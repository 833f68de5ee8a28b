import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { parseArguments } from "../../../app/flags/arguments.ts";
import { Output } from "../output.ts";
import { openOptions } from "./print.ts";
import { printOptions } from "./root.ts";

describe("which session", () => {
  test.each([
    [[], { kind: "new" }],
    [["--session-id", "x"], { kind: "new", id: "x" }],
    [["--resume", "x"], { kind: "resume", from: { session: "x" } }],
    [["-c"], { kind: "resume", from: "newest" }],
    [["-c", "--fork-session"], { kind: "fork", from: "newest" }],
    [["--resume", "x", "--fork", "--session-id", "y"], { kind: "fork", from: { session: "x" }, id: "y" }],
  ])("%j", async (given, which) => {
    expect((await optionsOf(given)).which).toEqual(which);
  });

  test.each([
    [["--fork"]],
    [["-c", "--resume", "x"]],
    [["-c", "--session-id", "x"]],
    [["--resume", "x", "--session-id", "y"]],
  ])("%j do not fit together", async (given) => {
    await expect(optionsOf(given)).rejects.toMatchObject({ code: "usage" });
  });
});

test("a new prompt gives an unfinished turn up; without one it goes on", async () => {
  expect((await optionsOf([])).unfinished).toBe("lost");
  expect((await optionsOf([], "go on")).unfinished).toBe("continue");
});

test.each([
  [["--max-turns", "0"]],
  [["--max-budget-usd", "-1"]],
  [["--max-thinking-tokens", "1.5"]],
  [["--permission-mode", "yolo"]],
  [["--json-schema", "{"]],
  [["--json-schema", "[]"]],
  [["--json-schema", "nowhere.json"]],
])("%j is wrong use", async (given) => {
  await expect(optionsOf(given)).rejects.toMatchObject({ code: "usage" });
});

test("numbers, lists and thinking come as they are meant", async () => {
  const options = await optionsOf([
    "--max-turns",
    "3",
    "--max-budget-usd",
    "0.5",
    "--max-thinking-tokens",
    "0",
    "--fallback-model",
    "a,b",
    "--allowedTools",
    "Read Bash(a, b)",
    "--add-dir",
    "x y",
    "--add-dir",
    "z",
  ]);
  expect(options).toMatchObject({
    maxTurns: 3,
    maxBudgetUsd: 0.5,
    thinking: { kind: "off" },
    fallbackModels: ["a", "b"],
    allowedTools: ["Read", "Bash(a, b)"],
    addDirs: ["x y", "z"],
    bypass: "refused",
  });
  expect((await optionsOf(["--max-thinking-tokens", "9"])).thinking).toEqual({ kind: "budget", tokens: 9 });
  expect((await optionsOf(["--allow-dangerously-skip-permissions"])).bypass).toBe("allowed");
});

test("tools are a preset, names, all or none", async () => {
  verifies("S0.21");
  expect((await optionsOf([])).tools).toBe(undefined);
  expect((await optionsOf(["--tool-preset", "safe-edit"])).tools).toBe("safe-edit");
  expect((await optionsOf(["--tools", "Read,Bash", "--tools=Grep"])).tools).toEqual(["Read", "Bash", "Grep"]);
  expect((await optionsOf(["--tools=default"])).tools).toBe("full");
  expect((await optionsOf(["--tools="])).tools).toEqual([]);
  await expect(optionsOf(["--tool-preset", "safe"])).rejects.toThrow(
    "full, read-only, no-bash, safe-edit, coordinator",
  );
  await expect(optionsOf(["--tool-preset", "full", "--tools", "Read"])).rejects.toThrow("give one of them");
});

test("without a terminal nobody answers", async () => {
  expect((await optionsOf([])).asks).toBe("refused");
});

test("a schema may stand in a file", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "keel-options-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, "s.json"), '{"type":"object"}');
  expect((await optionsOf(["--json-schema", "s.json"], "new prompt", folder)).jsonSchema).toEqual({
    type: "object",
  });
});

function optionsOf(given: readonly string[], start: "new prompt" | "go on" = "new prompt", cwd = "/nowhere") {
  const sink = new Output(new PassThrough());
  const { values } = parseArguments(given, printOptions);
  const signals = { take: () => () => undefined };
  return openOptions(values, start, {
    version: "0",
    env: {},
    cwd,
    input: new PassThrough(),
    out: sink,
    err: sink,
    signals,
    crashes: signals,
  });
}
