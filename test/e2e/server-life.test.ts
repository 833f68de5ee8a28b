// The life of the built server: in the background, found by a second start, ended in order, killed and started again.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { isDurable } from "../../keel/src/protocol/event/envelope.ts";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { clientOf, heardUntil, isTurnEnd, openServeStage, words } from "./serve-stage.ts";
import { until } from "./stage.ts";

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("keel serve --detach", () => {
  test("goes on without its terminal, says where it is, and is found, asked and ended by the next command", async () => {
    verifies("S4.38", "S3.21");
    const stage = await openServeStage(byPosition([reply("Hello there.")]));
    const started = await stage.run(["serve", "--detach", "--port", "0"]);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    expect(started.stdout).toMatch(/Serving the sessions of .*\(process \d+\)/);
    expect(started.stdout).toMatch(/address http:\/\/127\.0\.0\.1:\d+/);
    const status = await stage.run(["serve", "--status", "--json"]);
    const state = JSON.parse(status.stdout);
    try {
      // A session of its own: no terminal's end reaches it.
      const [sid = ""] = execFileSync("ps", ["-o", "sid=", "-p", String(state.pid)], { encoding: "utf8" })
        .trim()
        .split(/\s+/);
      expect(Number(sid)).toBe(state.pid);
      const again = await stage.run(["serve", "--detach"]);
      expect(again.code).toBe(75);
      expect(again.stderr).toContain(`process ${state.pid}`);
      const said = await stage.run(["serve", "--status"]);
      expect(said.stdout).toContain(`process ${state.pid}`);
      expect(said.stdout).toContain("0 sessions open (0 in memory)");
    } finally {
      const stopped = await stage.run(["serve", "--stop"]);
      expect(stopped).toMatchObject({ code: 0 });
      expect(stopped.stderr).toContain(`process ${state.pid}`);
    }
    await until("its end", () => !isAlive(state.pid));
    expect((await stage.run(["serve", "--status"])).code).toBe(69);
    expect((await stage.run(["serve", "--stop"])).code).toBe(69);
  });

  test("fails with words and its code where it cannot start", async () => {
    const stage = await openServeStage(byPosition([]));
    const { state, child } = await stage.serve("--port", "0");
    const port = new URL(state.url ?? "").port;
    const other = { KEEL_HOME: path.join(stage.home, "..", "other") };
    const failed = await stage.run(["serve", "--detach", "--port", port], { env: other });
    expect(failed.code).toBe(64);
    expect(failed.stdout).toBe("");
    expect(failed.stderr).toMatch(/EADDRINUSE/);
    expect((await stage.run(["serve", "--status"], { env: other })).code).toBe(69);
    child.kill("SIGTERM");
  });

  test("ends on SIGHUP and SIGTERM in order: turns end, logs are closed, clients are told", async () => {
    for (const signal of ["SIGHUP", "SIGTERM"] as const) {
      const stage = await openServeStage(
        byPosition([reply(toolUse("Bash", { command: "sleep 60" })), reply("Never.")]),
      );
      const state = await stage.detach();
      const client = await clientOf(state);
      const handle = await client.open({ cwd: stage.project, options: { allowedTools: ["Bash(sleep:*)"] } });
      const all = heardUntil(handle.events(), () => false);
      const running = heardUntil(handle.events(), ({ type }) => type === "tool.started");
      await handle.submit(words("Wait"));
      await running;
      process.kill(state.pid, signal);
      const heard = await all;
      expect(heard.at(-1)).toMatchObject({ type: "session.closed" });
      expect(heard.filter(isTurnEnd)).toHaveLength(1);
      await until("its end", () => !isAlive(state.pid));
      const log = readFileSync(state.logFile, "utf8");
      expect(log).toMatch(/server\.stopping[\s\S]*session\.closed[\s\S]*server\.stopped/);
      expect(existsSync(state.socket)).toBe(false);
    }
  });

  test("logs into a private file, and nothing of it is a secret or somebody's words", async () => {
    verifies("S3.21");
    const stage = await openServeStage(byPosition([reply("Blackbird answers."), reply("More.")]));
    const state = await stage.detach("--port", "0");
    const client = await clientOf(state, "websocket");
    const handle = await client.open({ cwd: stage.project });
    const ended = heardUntil(handle.events(), isTurnEnd);
    await handle.submit(words("Nightingale asks"));
    await ended;
    await fetch(`${state.url}/api/sessions`, { headers: { authorization: "Bearer planted-wrong-secret" } });
    await stage.run(["serve", "--stop"]);
    const folder = path.dirname(state.logFile);
    for (const name of readdirSync(folder)) {
      const file = path.join(folder, name);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const text = readFileSync(file, "utf8");
      for (const planted of ["Nightingale", "Blackbird", "planted-wrong-secret", stage.project])
        expect(text).not.toContain(planted);
      expect(text).not.toContain(readFileSync(state.secretFile, "utf8").trim());
    }
    const log = readFileSync(state.logFile, "utf8");
    expect(log).toContain(`session.opened session=${handle.id}`);
    expect(log).toContain("client.came by=socket");
  });
});

test("what a killed server left at work goes on with the next one, although nobody looks", async () => {
  verifies("P16");
  const stage = await openServeStage((_, asked) =>
    asked.assistantTurns === 0 ? reply(toolUse("Bash", { command: "sleep 1" })) : reply("Done at last."),
  );
  const first = await stage.serve();
  const client = await clientOf(first.state);
  const handle = await client.open({ cwd: stage.project, options: { allowedTools: ["Bash(sleep:*)"] } });
  const running = heardUntil(handle.events(), ({ type }) => type === "tool.started");
  await handle.submit(words("Wait"));
  const before = (await running).flatMap((event) => (isDurable(event) ? [event.seq] : []));
  first.child.kill("SIGKILL");
  await new Promise((resolve) => first.child.once("exit", resolve));
  client.close();

  await stage.detach();
  await until("the end of the turn", () => stage.log(handle.id).some(({ type }) => type === "turn.finished"));
  const seqs = stage.log(handle.id).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(seqs.length).toBeGreaterThan(before.length);
});

test("the example of a conversation by curl alone holds what it says", async () => {
  const example = path.resolve(import.meta.dirname, "../../examples/curl-session.sh");
  try {
    execFileSync("curl", ["--version"]);
  } catch {
    return notRunHere("a conversation by curl", "curl absent");
  }
  const stage = await openServeStage(
    byPosition([reply(toolUse("Bash", { command: "touch made" })), reply("Then not.")]),
  );
  await stage.detach();
  const env = { PATH: process.env["PATH"], ...stage.env };
  const { stdout } = await promisify(execFile)(example, { cwd: stage.project, env });
  expect(stdout).toBe("All as expected.\n");
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
});
