// Commands in the background, seen through the built command: waited for, told, and settled after a crash.
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { lines, openStage, types, until } from "./stage.ts";

const background = (command: string) =>
  reply(toolUse("Bash", { command, description: "build", run_in_background: true }));
const allowed = ["--allowed-tools", "Bash"];

test("keel -p waits for a task in the background and prints what the model says about its end", async () => {
  verifies("S2.31", "S4.57");
  const stage = await openStage({
    replies: [background("sleep 0.3; echo built; exit 4"), reply("Building."), reply("It failed with 4.")],
  });
  const ended = await stage.run(["-p", "build", ...allowed]);
  expect(ended).toMatchObject({ code: 0, stdout: "It failed with 4.\n" });
  const changes = stage.log().filter(({ type }) => type === "task.changed");
  expect(changes).toMatchObject([
    { status: "running" },
    { status: "failed", data: { exitCode: 4, by: "itself", description: "build" } },
  ]);
  const file = /"outputFile":"([^"]+)"/.exec(JSON.stringify(changes[0]))?.[1] ?? "none";
  expect(file.startsWith(stage.home)).toBe(true);
  expect(readFileSync(file, "utf8")).toBe("built\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("build: ended with exit code 4");
});

test("the stream tells a task in the order that programs know", async () => {
  verifies("S2.19", "P35");
  const stage = await openStage({
    replies: [background("sleep 0.5"), reply("Started."), reply("Ended.")],
  });
  const ended = await stage.run(["-p", "go", "--output-format", "stream-json", ...allowed]);
  const told = lines(ended.stdout).map((message) => message["subtype"] ?? message["type"]);
  expect(told.filter((name) => name !== "status")).toEqual([
    ...["init", "assistant", "background_tasks_changed", "task_started", "user", "assistant", "success"],
    ...["task_updated", "task_notification", "background_tasks_changed", "init", "assistant", "success"],
  ]);
  const lists = lines(ended.stdout).filter((message) => message["subtype"] === "background_tasks_changed");
  expect(lists).toMatchObject([
    { tasks: [{ task_type: "local_bash", description: "build" }] },
    { tasks: [] },
  ]);
  expect(lines(ended.stdout).at(-1)).toMatchObject({ origin: { kind: "task-notification" } });
});

test("keel -p does not wait for ever, and not at all for what a command merely left running", async () => {
  const server = await openStage({ replies: [background("sleep 600"), reply("It serves.")] });
  const stopped = await server.run(["-p", "serve", ...allowed], { env: { KEEL_TASK_WAIT: "1" } });
  expect(stopped).toMatchObject({ code: 0, stdout: "It serves.\n" });
  expect(stopped.stderr).toContain("still running, stopped now: build");
  expect(server.log().at(-2)).toMatchObject({ type: "task.changed", status: "stopped" });
  const left = await openStage({
    replies: [reply(toolUse("Bash", { command: "sleep 600 & echo left" })), reply("Left.")],
  });
  expect(await left.run(["-p", "go", ...allowed])).toMatchObject({ code: 0, stdout: "Left.\n", stderr: "" });
  expect(left.log().filter(({ type }) => type === "task.changed")).toMatchObject([
    { status: "running", data: { origin: "left" } },
    { status: "stopped", data: { by: "shutdown" } },
  ]);
});

test("a first SIGINT ends the command: it waits for nothing that goes on in the background", async () => {
  verifies("G9");
  const stage = await openStage({
    replies: [background("sleep 600"), reply(toolUse("Bash", { command: "touch began; sleep 600" }))],
  });
  const running = stage.start(["-p", "go", ...allowed]);
  running.child.stdin?.end();
  await until("the second command runs", () => existsSync(path.join(stage.project, "began")));
  running.child.kill("SIGINT");
  const ended = await running.ended;
  expect(ended).toMatchObject({ code: 130, stdout: "" });
  expect(ended.stderr).toContain("still running, stopped now: build");
  expect(stage.log().filter(({ type }) => type === "task.changed")).toMatchObject([
    { status: "running" },
    { status: "stopped", data: { by: "shutdown" } },
  ]);
});

test("a task of a killed Keel is settled when its session goes on, and the model is told", async () => {
  verifies("G9");
  const stage = await openStage({
    replies: [background("sleep 600"), reply("Started."), reply("I see that it is lost.")],
  });
  const running = stage.start(["-p", "go", ...allowed]);
  running.child.stdin?.end();
  await until("the first turn has ended", () => types(stage.log()).includes("turn.finished"));
  running.child.kill("SIGKILL");
  await running.ended;
  const ended = await stage.run(["-p", "still there?", "--continue", ...allowed]);
  expect(ended).toMatchObject({ code: 0, stdout: "I see that it is lost.\n" });
  expect(stage.log().filter(({ type }) => type === "task.changed")).toMatchObject([
    { status: "running" },
    { status: "stopped", data: { by: "lost" } },
  ]);
  expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("lost, since the process");
});
