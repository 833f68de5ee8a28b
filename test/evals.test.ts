// The cases for Keel itself, on the scripted model, and what an eval says of them.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { readCases } from "../keel/src/app/evals/read-cases.ts";
import { evaluate } from "../keel/src/hosts/cli/commands/eval.ts";
import { startModelServer } from "../keel/src/testing/model-server.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { partOf } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const cases = path.join(import.meta.dirname, "evals");

function stage(env: Record<string, string> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-eval-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const said: string[] = [];
  const output = (list: string[]) => ({
    line: (text: string) => void list.push(text),
    write: () => undefined,
  });
  const context = {
    version: "0",
    env: { PATH: process.env["PATH"], HOME: folder, KEEL_HOME: path.join(folder, ".keel"), ...env },
    cwd: folder,
    input: new PassThrough(),
    out: output(lines),
    err: output(said),
    signals: { take: () => () => undefined },
    crashes: { take: () => () => undefined },
  };
  const values = {
    json: false,
    model: undefined,
    prompts: undefined,
    only: undefined,
    repeat: undefined,
    judge: undefined,
    record: undefined,
    replay: undefined,
    compare: undefined,
    "max-budget-usd": undefined,
    timeout: "60",
    junit: undefined,
    output: undefined,
  };
  const run = (place: string, more: Partial<Record<keyof typeof values, unknown>> = {}) =>
    // What a command is given of its process is more than these.
    evaluate(
      { values: { ...values, ...more } as typeof values, positionals: [place] } as never,
      context as never,
    );
  return { folder, lines, said, run };
}

const scratches = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`keel-scratch-${process.pid}-`));

describe("keel eval", () => {
  test("passes the cases for Keel itself", { timeout: 10 * 60_000 }, async () => {
    verifies("P30");
    const all = await readCases(cases);
    expect(all.length).toBeGreaterThanOrEqual(30);
    const { run, said, folder } = stage();
    const some = partOf("eval-cases", () => all.map(({ name }) => name));
    const chosen = path.join(folder, "chosen");
    mkdirSync(chosen);
    for (const name of some)
      writeFileSync(path.join(chosen, `${name}.json`), readFileSync(path.join(cases, `${name}.json`)));
    expect(await run(chosen, { junit: "out.xml" }), said.join("\n")).toBe(0);
    expect(readFileSync(path.join(folder, "out.xml"), "utf8")).toContain(
      `tests="${some.length}" failures="0"`,
    );
    expect(scratches()).toEqual([]);
  });

  test("says what does not hold, how it spreads, and what was before", { timeout: 60_000 }, async () => {
    const { run, said, lines, folder } = stage();
    const place = path.join(folder, "cases");
    mkdirSync(place);
    const write = (name: string, checks: object[]): void =>
      writeFileSync(
        path.join(place, `${name}.json`),
        JSON.stringify({ prompt: "Hello?", checks, script: { replies: ["Hello."] } }),
      );
    write("bad", [
      { answer: "Goodbye" },
      { command: "exit 3" },
      { file: "none" },
      { end: "stuck" },
      { tool: "Bash" },
    ]);
    write("good", [{ answer: "Hello" }, { file: "none", not: true }]);
    expect(await run(place, { repeat: "2", output: "report.json" })).toBe(1);
    expect(said.filter((line) => line.startsWith("FAILED"))).toHaveLength(2);
    expect(said.join("\n")).toMatch(/answer "Goodbye": the answer was "Hello\."/);
    expect(said.join("\n")).toMatch(/command "exit 3": exit code 3/);
    expect(lines.join("\n")).toMatch(/bad +\S+ +Keel's own +0\/2/);
    expect(lines.join("\n")).toMatch(/good +\S+ +Keel's own +2\/2/);
    await run(place, { compare: "report.json", only: "good" });
    expect(lines.join("\n")).toMatch(/Keel 0/);
    writeFileSync(path.join(place, "wrong.json"), `{"prompt": "x", "checks": [{"nothing": 1}]}`);
    await expect(run(place)).rejects.toMatchObject({ code: "usage" });
  });

  test("a recorded run is repeated without a model", { timeout: 60_000 }, async () => {
    const server = await startModelServer({
      script: (_, { lastUser }) =>
        lastUser.includes("Make it")
          ? reply("", toolUse("Write", { file_path: "x.txt", content: "x\n" }))
          : reply("Made."),
    });
    const { run, said, folder } = stage({
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "sk-secret-key-12345",
    });
    const place = path.join(folder, "cases");
    mkdirSync(place);
    const made = { prompt: "Make it", checks: [{ file: "x.txt", is: "x\n" }, { answer: "Made" }] };
    writeFileSync(path.join(place, "make.json"), JSON.stringify(made));
    expect(await run(place, { model: "claude-sonnet-4-5", record: "tapes" }), said.join("\n")).toBe(0);
    await server.close();
    const [tape = ""] = readdirSync(path.join(folder, "tapes"));
    expect(readFileSync(path.join(folder, "tapes", tape), "utf8")).not.toContain("sk-secret-key-12345");
    expect(await run(place, { model: "claude-sonnet-4-5", replay: "tapes" }), said.join("\n")).toBe(0);
    // Another question is not answered with what was recorded.
    writeFileSync(path.join(place, "make.json"), JSON.stringify({ ...made, prompt: "Make it green" }));
    expect(await run(place, { model: "claude-sonnet-4-5", replay: "tapes" })).toBe(1);
    expect(scratches()).toEqual([]);
  });
});
