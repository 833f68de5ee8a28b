// Groups in containers, by the built server and a runtime that speaks each one's words: real programs, real files.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { endContainers, fakeRuntime, leaveContainer, runningIn } from "../support/fake-runtime.ts";
import { verifies } from "../support/verifies.ts";
import { openServeStage, type ServeStage } from "./serve-stage.ts";
import { command, until } from "./stage.ts";

async function openBoxStage(kind: "docker" | "podman" | "container", more: object = {}) {
  const stage = await openServeStage((_, { assistantTurns }) => reply(`Answer ${assistantTurns + 1}.`));
  const folder = path.dirname(stage.project);
  const runtime = fakeRuntime(folder, kind, command);
  mkdirSync(stage.home, { recursive: true });
  const groups = { runtime: runtime.file, image: "keel:test", ...more };
  writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ groups }));
  onTestFinished(async () => {
    endContainers(folder);
    await pause(200);
  });
  const label = createHash("sha256").update(`${stage.home}/groups`).digest("hex").slice(0, 16);
  return { stage, folder, runtime, label };
}

const answers = async (stage: ServeStage, id: string): Promise<string[]> => {
  const { stdout } = await stage.run(["groups", "log", id, "--json", "--last", "1000"]);
  const lines: { from?: string; text: string; isSent: boolean }[] = JSON.parse(stdout);
  return lines.flatMap(({ from, text, isSent }) => (from === undefined && isSent ? [text] : []));
};

test.each(["docker", "podman", "container"] as const)(
  "%s: a group has one container for all its messages; orphans of an earlier life are ended first",
  async (kind) => {
    verifies("S2.50", "S2.51", "S2.53", "S2.58", "S2.60");
    const { stage, folder, runtime, label } = await openBoxStage(kind);
    const orphan = spawn("sleep", ["600"], { stdio: "ignore" });
    const stranger = spawn("sleep", ["600"], { stdio: "ignore" });
    onTestFinished(() => {
      orphan.kill("SIGKILL");
      stranger.kill("SIGKILL");
    });
    leaveContainer(folder, "keel-team-old", label, orphan.pid ?? 0);
    leaveContainer(folder, "somebody-elses", "another home", stranger.pid ?? 0);
    Object.assign(stage.env, { PLANTED_SECRET: "planted", GITHUB_TOKEN: "planted" });
    await stage.run(["groups", "add", "team", "--always", "--box", "container"]);
    await stage.serve();
    await stage.run(["groups", "say", "team", "one", "--id", "m1"]);
    await until("it is answered", async () => (await answers(stage, "team")).length === 1);
    expect(runningIn(folder).filter((name) => name === "keel-team-old")).toEqual([]);
    expect(runningIn(folder)).toContain("somebody-elses");
    await stage.run(["groups", "say", "team", "two", "--id", "m2"]);
    await until("it is answered too", async () => (await answers(stage, "team")).length === 2);
    expect(await answers(stage, "team")).toEqual(["Answer 1.", "Answer 2."]);
    expect(runtime.calls().filter(([verb]) => verb === "run")).toHaveLength(1);
    for (const env of runtime.seen()) expect(JSON.stringify(env)).not.toContain("planted");
    expect(JSON.stringify(runtime.calls())).not.toContain("planted");
  },
  60_000,
);

test("an idle container is asked to end by its mailbox, and the next message has a new one with the same session", async () => {
  verifies("S2.50", "S2.51", "S2.52");
  const { stage, folder, runtime } = await openBoxStage("docker", { idleMinutes: 0.02 });
  await stage.run(["groups", "add", "team", "--always", "--box", "container"]);
  await stage.serve();
  for (const at of [1, 2]) {
    await stage.run(["groups", "say", "team", `message ${at}`, "--id", `m${at}`]);
    await until("it is answered", async () => (await answers(stage, "team")).length === at);
    await until("its container has ended", () => runningIn(folder).length === 0);
  }
  expect(await answers(stage, "team")).toEqual(["Answer 1.", "Answer 2."]);
  expect(runtime.calls().filter(([verb]) => verb === "run")).toHaveLength(2);
  // Nobody had to end it: `_close` was heard.
  expect(runtime.calls().filter(([verb]) => verb === "stop" || verb === "kill")).toEqual([]);
}, 60_000);

test("that orphans cannot be listed is told, and not passed over in silence", async () => {
  verifies("S2.53");
  const { stage, runtime } = await openBoxStage("container");
  const broken = readFileSync(runtime.file, "utf8").replace('rest[1] !== "json"', "true");
  writeFileSync(runtime.file, broken);
  await stage.run(["groups", "add", "team", "--always", "--box", "container"]);
  await stage.serve();
  const logFile = path.join(stage.home, "logs/server.log");
  await until(
    "it is in the log of the server",
    () => existsSync(logFile) && readFileSync(logFile, "utf8").includes("box.orphans-left"),
  );
}, 60_000);
