// What cannot work: each with its exit code, one sentence and a hint, and no stack.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { httpError, reply } from "../../keel/src/testing/reply.ts";
import { keel } from "./command.ts";
import { command, lines, openStage, watch } from "./stage.ts";

test("without a model it ends with 78 and names three ways on", async () => {
  const stage = await openStage({ replies: [] });
  const ended = await keel(["-p", "hi"], { env: { HOME: stage.project }, cwd: stage.project });
  expect(ended).toMatchObject({ code: 78, stdout: "" });
  expect(ended.stderr).toMatch(/ANTHROPIC_API_KEY.*ANTHROPIC_BASE_URL.*keel rehearse/s);
  expect(ended.stderr).not.toMatch(/\n\s+at /);
});

test.each([
  [["--nope"]],
  [["-p", "--modle", "x"]],
  [["-p", "hi", "--output-format", "xml"]],
  [["frobnicate"]],
  [["sessions", "frob"]],
  [[]],
])("%j is wrong use and ends with 64", async (parameters) => {
  const stage = await openStage({ replies: [] });
  const ended = await stage.run(parameters);
  expect(ended).toMatchObject({ code: 64, stdout: "" });
  expect(ended.stderr.trim().split("\n")).toHaveLength(2);
});

test("a refused key ends with 77 and is not tried again; the key is shown nowhere", async () => {
  const stage = await openStage({ replies: [reply("no")] }, { key: "the-right-key-0123456789" });
  const env = { ANTHROPIC_API_KEY: "sk-canary-4f1d0c2b9a" };
  const ended = await stage.run(["-p", "hi"], { env });
  expect(ended).toMatchObject({ code: 77, stdout: "" });
  expect(stage.server.requests).toHaveLength(1);
  expect(JSON.stringify([ended, stage.log()])).not.toContain("canary");
  const doctor = await stage.run(["doctor"], { env });
  expect(doctor.stdout).toContain("present, from ANTHROPIC_API_KEY");
  expect(doctor.stdout).not.toContain("canary");
});

test("an unreachable provider ends with 69, and json says so too", async () => {
  const stage = await openStage({ replies: [] });
  const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:9", KEEL_MAX_RETRIES: "0" };
  const ended = await stage.run(["-p", "hi", "--output-format", "json"], { env });
  expect(ended.code).toBe(69);
  expect(lines(ended.stdout)[0]).toMatchObject({ is_error: true, terminal_reason: "api_error" });
  expect(ended.stderr).toContain("nothing answers at 127.0.0.1:9");
});

test("a provider that fails is tried as often as allowed, then the turn ends with 1", async () => {
  const stage = await openStage({
    replies: [],
    otherwise: httpError(500, { headers: { "retry-after": "0" } }),
  });
  const ended = await stage.run(["-p", "hi"], { env: { KEEL_MAX_RETRIES: "1" } });
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(stage.server.requests).toHaveLength(2);
  expect((await stage.run(["-p", "hi"], { env: { KEEL_MAX_RETRIES: "often" } })).code).toBe(64);
});

test("a home that cannot be written ends with 73, before the model is asked", async () => {
  const stage = await openStage({ replies: [] });
  writeFileSync(path.join(stage.project, "file"), "");
  const ended = await stage.run(["-p", "hi"], { env: { KEEL_HOME: path.join(stage.project, "file/home") } });
  expect(ended).toMatchObject({ code: 73, stdout: "" });
  expect(stage.server.requests).toHaveLength(0);
});

test("a folder that is gone is told, not thrown", async () => {
  const stage = await openStage({ replies: [] });
  const script = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" -p hi';
  const running = watch(
    spawn("/bin/sh", ["-c", script, command], {
      cwd: stage.project,
      env: { PATH: process.env["PATH"], ...stage.env },
    }),
  );
  const ended = await running.ended;
  expect(ended).toMatchObject({ code: 64, stdout: "" });
  expect(ended.stderr).toContain("does not exist any more");
});

test("wrong settings are told, and the rest of them stay in force", async () => {
  const stage = await openStage({ replies: [reply("ok")] });
  mkdirSync(stage.home);
  writeFileSync(
    path.join(stage.home, "settings.json"),
    JSON.stringify({ model: "claude-opus-4-5", fallbackModel: 7 }),
  );
  const ended = await stage.run(["-p", "hi"], { env: { KEEL_MODEL: "" } });
  expect(ended).toMatchObject({ code: 0, stdout: "ok\n" });
  expect(ended.stderr).toContain("fallbackModel");
  expect(stage.server.requests[0]?.body["model"]).toBe("claude-opus-4-5");
});
