// Schedules by the built command: made, started by a server or by a timer of one's own, and each due time exactly once.
import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ScheduledRun } from "../../keel/src/protocol/schedule.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { countOf, seed } from "../support/budget.ts";
import { clientOf, openServeStage } from "./serve-stage.ts";
import { openStage, type Stage, types, until } from "./stage.ts";

const answer = () => reply("Done.");

async function runsOf(stage: Stage, name: string): Promise<ScheduledRun[]> {
  const { code, stdout, stderr } = await stage.run(["schedule", "log", name, "--json"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

const inputsOf = (stage: Stage, session: string): string[] =>
  stage
    .log(session)
    .flatMap((event) => (event.type === "input.accepted" ? [(event["input"] as { id: string }).id] : []));

test("a schedule is made, listed, paused, started now and removed", async () => {
  const stage = await openStage(answer);
  const keel = async (...words: string[]) => stage.run(["schedule", ...words]);
  const made = await keel(
    "add",
    "--cron",
    "0 9 * * 1-5",
    "--zone",
    "Europe/Berlin",
    "--name",
    "news",
    "Say what is new",
  );
  expect(made.stdout).toMatch(/^news {2}0 9 \* \* 1-5 \(Europe\/Berlin\) {2}next 20/);
  expect(made.stderr).toContain("No server runs");
  expect((await keel("add", "--every", "1h", "--name", "news", "x")).stderr).toContain(
    "There is a schedule news already",
  );
  expect((await keel("add", "--every", "1h", "--permission-mode", "wild", "x")).code).not.toBe(0);
  await keel("pause", "news");
  expect((await keel("list")).stdout).toContain("paused");
  await keel("pause", "news", "--off");
  expect((await keel("run", "news")).code).toBe(0);
  const [run] = await runsOf(stage, "news");
  expect(run?.end).toMatchObject({ how: "done", why: "completed" });
  expect(run?.end?.costUsd).toBeGreaterThan(0);
  expect(inputsOf(stage, run?.session ?? "")).toEqual(run?.inputs);
  expect((await keel("remove", "news")).code).toBe(0);
  expect((await keel("list")).stderr).toContain("There are no schedules yet");
  expect((await keel("remove", "news")).code).not.toBe(0);
});

test("where nobody can be asked, the question waits in its session, and the run stays open until it is answered", async () => {
  const replies = [reply(toolUse("Bash", { command: "touch made" })), reply("Made.")];
  const stage = await openServeStage(
    (_, asked) => replies[asked.assistantTurns] ?? reply("Nothing is left."),
  );
  await stage.run(["schedule", "add", "--every", "1d", "--name", "make", "Make it"]);
  expect((await stage.run(["schedule", "run", "make"])).code).toBe(0);
  const [open] = await runsOf(stage, "make");
  expect(open?.end).toBeUndefined();
  const session = open?.session ?? "";
  expect(types(stage.log(session)).at(-1)).toBe("ask.opened");
  const { state } = await stage.serve();
  const client = await clientOf(state);
  await until("the server has it open", async () => (await client.session(session)).working);
  const handle = client.attach(session);
  const [ask] = await handle.asks();
  await handle.submit({ type: "answer", askId: ask?.id ?? "", answer: { verdict: "allow" } });
  await until("it has ended", async () => (await runsOf(stage, "make"))[0]?.end !== undefined);
  expect((await runsOf(stage, "make"))[0]?.end).toMatchObject({ how: "done" });
  expect(inputsOf(stage, session)).toEqual(open?.inputs);
});

test("a server and two timers of one's own start each due time once, through kills", async () => {
  const stage = await openServeStage(answer);
  const count = countOf("schedule-kills");
  await stage.run([
    "schedule",
    "add",
    "--every",
    "1s",
    "--missed",
    "all",
    "--overlap",
    "queue",
    "--name",
    "tick",
    "Tick",
  ]);
  const chance = chances(seed());
  const alive: ChildProcess[] = [];
  let server = (await stage.serve()).child;
  const loop = async (): Promise<void> => {
    while (!isOver) {
      const { child, ended } = stage.start(["schedule", "run-due"]);
      alive.push(child);
      await ended;
    }
  };
  let isOver = false;
  const loops = [loop(), loop()];
  for (let kill = 0; kill < count; kill++) {
    await pause(300 + chance() * 1_500);
    const victims = [server, ...alive.slice(-2)];
    const victim = victims[Math.floor(chance() * victims.length)];
    victim?.kill("SIGKILL");
    if (victim === server) server = (await stage.serve()).child;
  }
  await until("enough are claimed", async () => (await runsOf(stage, "tick")).length > count);
  await stage.run(["schedule", "pause", "tick"]);
  isOver = true;
  server.kill("SIGTERM");
  await Promise.all(loops);
  // What a kill left open is gone on with.
  await until("all have ended", async () => {
    await stage.run(["schedule", "run-due"]);
    return (await runsOf(stage, "tick")).every(({ end }) => end);
  });
  const runs = await runsOf(stage, "tick");
  expect(runs.map(({ end }) => end?.how)).toEqual(runs.map(() => "done"));
  for (const { session, inputs } of runs) expect(inputsOf(stage, session)).toEqual(inputs);
  // Due at every second without a gap, and no session that is nobody's.
  const [first] = runs;
  expect(runs.map(({ due }) => due)).toEqual(runs.map((_, index) => (first?.due ?? 0) + index * 1_000));
  expect(stage.sessions().length).toBe(runs.length);
}, 900_000);

function chances(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
