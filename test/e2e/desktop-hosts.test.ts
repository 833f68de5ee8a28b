// The hosts of the examples, run as they stand there: one in Rust's standard library, one for Node.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { command, openStage } from "./stage.ts";

const run = promisify(execFile);
const examples = path.resolve(import.meta.dirname, "../../examples/desktop");

/** A call that is asked about, and then a long word: more than a pipe holds at once. */
const replies = [
  reply(toolUse("Bash", { command: "touch never" }, "b")),
  reply(`Hello ${"there".repeat(40_000)}.`),
];

test("a host in Rust's standard library holds a conversation, says no to what is asked, and reads to the end", {
  timeout: 180_000,
}, async () => {
  verifies("S1.1", "S1.24");
  try {
    execFileSync("rustc", ["--version"], { stdio: "ignore" });
  } catch {
    return notRunHere("desktop host in Rust", "rustc is absent");
  }
  const folder = mkdtempSync(path.join(tmpdir(), "keel-rust-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const host = path.join(folder, "host");
  const source = path.join(examples, "host.rs");
  const [stage] = await Promise.all([
    openStage({ replies }),
    run("rustc", ["--edition", "2021", "-A", "dead_code", "-o", host, source]),
  ]);
  const { stdout } = await run(host, [command, 'say "hello"', stage.project], {
    env: { PATH: process.env["PATH"], ...stage.env },
    maxBuffer: 10_000_000,
  });
  expect(stdout).toContain(`Hello ${"there".repeat(40_000)}.`);
  expect(stdout.match(/^done r\d$/gm)).toHaveLength(7);
  expect(stdout).toContain("exit 0");
  expect(JSON.stringify(stage.log())).toContain('"denied"');
});

test("a host for Node asks for every kind of request and hears the end of each", async () => {
  verifies("S1.1", "S1.4", "S1.5");
  const stage = await openStage({ replies });
  const { stdout } = await run(process.execPath, [path.join(examples, "host.ts"), command, "say hello"], {
    cwd: stage.project,
    env: { PATH: process.env["PATH"], ...stage.env },
    maxBuffer: 10_000_000,
  });
  expect(stdout).toContain("protocol 1");
  expect(stdout).toContain(`Hello ${"there".repeat(40_000)}.`);
  expect(stdout).toContain("exit 0");
});

test.each(["host.rs", "host.ts"])("%s is under 150 lines", (name) => {
  expect(readFileSync(path.join(examples, name), "utf8").split("\n").length).toBeLessThan(151);
});
