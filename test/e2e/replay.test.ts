// `keel replay` on sessions of the built command: nothing is sent, nothing is started, and what differs is named.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { launcher } from "./command.ts";
import { openStage, type Stage } from "./stage.ts";

const script = {
  replies: [
    reply("One moment.", toolUse("Glob", { pattern: "*" })),
    reply("And this.", toolUse("Read", { file_path: "a.txt" })),
    reply("Nothing there."),
  ],
};

async function recorded(): Promise<{ stage: Stage; id: string }> {
  const stage = await openStage(script);
  writeFileSync(path.join(stage.project, "a.txt"), "one\n");
  expect(await stage.run(["-p", "list it"])).toMatchObject({ code: 0 });
  const [session] = JSON.parse((await stage.run(["sessions", "list", "--json"])).stdout);
  return { stage, id: session.id };
}

describe("keel replay", () => {
  test("finds every request of a session as it was sent, and asks nobody", async () => {
    verifies("P29");
    const { stage, id } = await recorded();
    const asked = stage.server.requests.length;
    expect(asked).toBe(3);
    const { code, stdout } = await stage.run(["replay", id, "--json"]);
    const [log] = JSON.parse(stdout);
    expect(log).toMatchObject({ requests: 3, equalRequests: 3, lacks: [], problems: [] });
    expect(log.difference).toBeUndefined();
    expect(log.bill.todayUsd).toBeCloseTo(log.bill.recordedUsd, 10);
    expect(code).toBe(0);
    expect(stage.server.requests).toHaveLength(asked);
  });

  test("opens no socket to anywhere and starts no process", async () => {
    if (!existsSync("/usr/bin/strace")) return notRunHere("strace", "strace absent");
    const { stage, id } = await recorded();
    const file = path.join(stage.project, "..", "calls.txt");
    const traced = [
      "-f",
      "-qq",
      "-e",
      "trace=connect,execve,bind,listen",
      "-o",
      file,
      launcher,
      "replay",
      id,
    ];
    await promisify(execFile)("/usr/bin/strace", traced, { cwd: stage.project, env: stage.env });
    const calls = readFileSync(file, "utf8").split("\n");
    expect(calls.filter((line) => /(connect|bind|listen)\(.*AF_INET/.test(line))).toEqual([]);
    // The launcher becomes Node; behind that nothing is started.
    const started = calls.filter((line) => /execve\(.*\) = 0/.test(line));
    const last = started.at(-1) ?? "";
    expect(last).toContain("node");
    expect(new Set(started.map((line) => line.split(" ")[0])).size).toBe(1);
  });

  test("names another prompt at the first request, with its part of the bill, for CI too", async () => {
    const { stage, id } = await recorded();
    writeFileSync(path.join(stage.project, "prompt.md"), "You do nothing.");
    const logs = path.join(stage.project, "logs");
    mkdirSync(logs);
    await stage.run(["sessions", "export", id, "-o", path.join(logs, "one.jsonl")]);
    const tried = await stage.run([
      "replay",
      "--check",
      "logs",
      "--prompt",
      "prompt.md",
      "--junit",
      "out.xml",
    ]);
    expect(tried.code).toBe(1);
    expect(tried.stdout).toContain("request 1: prompt: part 1 of the system prompt");
    expect(tried.stdout).toContain("today:    You do nothing.");
    expect(tried.stdout).toMatch(/the bill: .* then, about .* today \(-/);
    const xml = readFileSync(path.join(stage.project, "out.xml"), "utf8");
    expect(xml).toContain('tests="1" failures="1"');
    expect(xml).toContain("part 1 of the system prompt");
    expect((await stage.run(["replay", "--check", "logs"])).code).toBe(0);
  });

  test("says that a log is damaged, and goes on with the others", async () => {
    const { stage, id } = await recorded();
    const logs = path.join(stage.project, "logs");
    mkdirSync(logs);
    await stage.run(["sessions", "export", id, "-o", path.join(logs, "one.jsonl")]);
    const whole = readFileSync(path.join(logs, "one.jsonl"));
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)] = (flipped[Math.floor(whole.length / 2)] ?? 0) ^ 1;
    writeFileSync(path.join(logs, "two.jsonl"), flipped);
    const { code, stdout } = await stage.run(["replay", "--check", "logs"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^equal {2}one\.jsonl/m);
    expect(stdout).toMatch(/^differs {2}two\.jsonl/m);
    expect(stdout).toContain("damaged:");
  });
});
