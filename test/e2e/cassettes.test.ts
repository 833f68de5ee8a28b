// Record and replay as commands: what a provider said is kept without secrets and said again without it.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { keel } from "./command.ts";
import { openStage, type Running, type Stage } from "./stage.ts";

const key = "sk-ant-api03-a-very-secret-key-that-nobody-may-see";

/** The address that the server prints first. */
async function addressOf(server: Running): Promise<string> {
  while (!server.out().includes("\n")) {
    if (server.child.exitCode !== null) throw new Error(server.err());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return JSON.parse(server.out().split("\n")[0] ?? "").url;
}

/** A session of two requests, one with a call, recorded through the proxy. */
async function record(stage: Stage, tape: string): Promise<string> {
  const proxy = stage.start(["model-server", "--record", tape, "--upstream", stage.server.url]);
  const env = { ANTHROPIC_BASE_URL: await addressOf(proxy), ANTHROPIC_API_KEY: key };
  const live = await stage.run(["-p", "list it"], { env });
  expect(live).toMatchObject({ code: 0, stderr: "" });
  proxy.child.kill("SIGTERM");
  expect((await proxy.ended).code).toBe(0);
  return live.stdout;
}

const script = {
  replies: [reply("One moment.", toolUse("Glob", { pattern: "*" })), reply("Nothing there.")],
};

describe("keel model-server", () => {
  test("records a session without its secrets, and plays it again with nobody behind it", async () => {
    verifies("P29");
    const stage = await openStage(script);
    const tape = path.join(stage.project, "..", "tape.jsonl");
    const said = await record(stage, tape);
    expect(said).toContain("Nothing there.");
    const written = readFileSync(tape, "utf8");
    expect(written.trimEnd().split("\n")).toHaveLength(2);
    expect(written).not.toContain("very-secret");
    expect(written).not.toMatch(/x-api-key|authorization/i);
    const asked = stage.server.requests.length;

    const player = stage.start(["model-server", "--replay", tape]);
    const env = { ANTHROPIC_BASE_URL: await addressOf(player), ANTHROPIC_API_KEY: "none" };
    const again = await stage.run(["-p", "list it"], { env });
    expect(again).toMatchObject({ code: 0, stdout: said });
    player.child.kill("SIGTERM");
    expect(await player.ended).toMatchObject({ code: 0, stderr: "" });
    expect(stage.server.requests).toHaveLength(asked);
  });

  test("that plays fails with what was asked when it is not recorded", async () => {
    verifies("P29");
    const stage = await openStage(script);
    const tape = path.join(stage.project, "..", "tape.jsonl");
    await record(stage, tape);
    const player = stage.start(["model-server", "--replay", tape]);
    const env = { ANTHROPIC_BASE_URL: await addressOf(player), ANTHROPIC_API_KEY: key };
    const asked = await stage.run(["-p", "something else entirely"], { env });
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain("not recorded");
    player.child.kill("SIGTERM");
    const { code, stderr } = await player.ended;
    expect(code).toBe(1);
    expect(stderr).toContain("something else entirely");
    expect(stderr).toContain("differs at messages.0");
    expect(stderr).not.toContain("very-secret");
  });

  test.each([
    [[], "needs one of --script FILE, --replay FILE and --record FILE"],
    [["--script", "a", "--replay", "b"], "needs one of"],
    [["--record", "a"], "--record FILE and --upstream URL go together"],
    [["--replay", "a", "--upstream", "http://127.0.0.1:1"], "--record FILE and --upstream URL go together"],
    [["--replay", "a", "--requests", "b"], "--requests goes with --script"],
    [["--replay", "nowhere.jsonl"], "nowhere.jsonl cannot be read"],
    [["--record", "tape.jsonl", "--upstream", "nowhere"], "not an http or https address"],
  ])("refuses %j", async (given, words) => {
    const stage = await openStage({ replies: [] });
    const { code, stderr } = await keel(["model-server", ...given], { env: stage.env, cwd: stage.project });
    expect(code).toBe(64);
    expect(stderr).toContain(words);
    expect(existsSync(path.join(stage.project, "tape.jsonl"))).toBe(false);
  });

  test("says all three ways in its help", async () => {
    const { code, stdout } = await keel(["model-server", "--help"]);
    expect(code).toBe(0);
    for (const option of ["--script", "--replay", "--record", "--upstream"]) expect(stdout).toContain(option);
  });
});
