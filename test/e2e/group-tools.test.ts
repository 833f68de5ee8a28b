// What the agents of groups ask their host for: by a server of tools of their own, as far as their group may.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { endContainers, fakeRuntime } from "../support/fake-runtime.ts";
import { verifies } from "../support/verifies.ts";
import { answersOf, obey, order } from "./group-script.ts";
import { openServeStage, type ServeStage } from "./serve-stage.ts";
import { command, until } from "./stage.ts";

const tool = (name: string): string => `mcp__group__${name}`;

/** A stage with groups, of which each has a folder; in containers where one is named. */
async function openToolStage(ids: readonly string[], runtime?: "docker" | "podman" | "container") {
  const stage = await openServeStage(obey);
  const folder = path.dirname(stage.project);
  mkdirSync(stage.home, { recursive: true });
  if (runtime) {
    const groups = { runtime: fakeRuntime(folder, runtime, command).file, image: "keel:test" };
    writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ groups }));
    onTestFinished(async () => {
      endContainers(folder);
      await pause(200);
    });
  }
  for (const id of ids) {
    const own = path.join(folder, "agents", id);
    mkdirSync(own, { recursive: true });
    const box = runtime ? ["--box", "container"] : ["--no-sandbox"];
    const main = id === "main" ? ["--main"] : [];
    const made = await stage.run(["groups", "add", id, "--always", "--folder", own, ...box, ...main]);
    expect(made.stderr).toBe("");
  }
  await stage.serve();
  return { stage, folder };
}

let numbers = 0;

/** Says it, and returns what the agent says to that. */
async function asked(stage: ServeStage, id: string, words: string): Promise<string[]> {
  const before = (await answersOf(stage, id)).length;
  await stage.run(["groups", "say", id, words, "--id", `q${++numbers}`]);
  const isAnswer = (text: string): boolean => /^(?:Came of it|Heard)/.test(text);
  await until("it is answered", async () => (await answersOf(stage, id)).slice(before).some(isAnswer));
  return (await answersOf(stage, id)).slice(before);
}

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString().replace(/\.\d+Z$/, "Z");

test.each([undefined, "docker", "container"] as const)(
  "box %s: a message goes out while it works, and a task that is due is answered in its group",
  async (runtime) => {
    verifies("S2.54", "S2.55");
    const { stage } = await openToolStage(["team"], runtime);
    const said = await asked(
      stage,
      "team",
      order(tool("send_message"), { text: "In a moment <internal>!</internal>" }),
    );
    expect(said).toEqual(["In a moment", "Came of it: Sent."]);
    for (const context_mode of ["group", "isolated"]) {
      const prompt = `Look at the ${context_mode}.`;
      const when = { schedule_type: "once", schedule_value: soon(8_000), context_mode };
      const [answer] = await asked(stage, "team", order(tool("schedule_task"), { prompt, ...when }));
      expect(answer).toMatch(/^Came of it: Scheduled as look-at-the-\w+-[0-9a-f]{6}: at 20/);
      const isDue = (text: string): boolean => text.includes("(The scheduled task") && text.includes(prompt);
      await until("it was due", async () => (await answersOf(stage, "team")).some(isDue));
      expect((await answersOf(stage, "team")).filter(isDue)).toHaveLength(1);
    }
    const [tasks] = await asked(stage, "team", order(tool("list_tasks"), {}));
    expect(tasks).toContain('"context_mode":"isolated","status":"over"');
    expect(tasks).toContain('"last_result":"done');
  },
  90_000,
);

test("an agent below the group's agent has its tools too", async () => {
  verifies("S2.54");
  const { stage } = await openToolStage(["team"]);
  const below = order(tool("send_message"), { text: "From below." });
  const agent = { description: "Help", prompt: below, subagent_type: "general-purpose" };
  const said = await asked(stage, "team", order("Agent", { ...agent, run_in_background: false }));
  expect(said[0]).toBe("From below.");
  expect(said[1]).toContain("Came of it: Came of it: Sent.");
});

test("what an agent in the background has done later is told to the group, though nobody asked again", async () => {
  verifies("S2.58");
  const { stage } = await openToolStage(["team"]);
  const agent = { description: "Slow", prompt: order("Bash", { command: "sleep 1; echo found-it" }) };
  await asked(
    stage,
    "team",
    order("Agent", { ...agent, subagent_type: "general-purpose", run_in_background: true }),
  );
  const isLater = (text: string): boolean => text.includes("found-it");
  await until("it is told", async () => (await answersOf(stage, "team")).some(isLater));
  await pause(500);
  expect((await answersOf(stage, "team")).filter(isLater)).toHaveLength(1);
}, 60_000);

test("by the folder that a call comes from: the main group may do everything, others only what is their own", async () => {
  verifies("S2.54", "S2.55");
  const { stage, folder } = await openToolStage(["main", "left", "right"]);
  const every = { schedule_type: "interval", schedule_value: "2h" };
  const [made = ""] = await asked(stage, "left", order(tool("schedule_task"), { prompt: "Mine.", ...every }));
  const [, id = ""] = /Scheduled as (\S+):/.exec(made) ?? [];
  expect(id).not.toBe("");
  for (const [name, input] of [
    ["send_message", { text: "as left", group: "left" }],
    ["schedule_task", { prompt: "For left.", ...every, group: "left" }],
    ["pause_task", { task_id: id }],
    ["cancel_task", { task_id: id }],
  ] as const)
    expect((await asked(stage, "right", order(tool(name), input)))[0], name).toMatch(
      /Only the main group|has no task/,
    );
  expect((await asked(stage, "right", order(tool("list_tasks"), {})))[0]).toContain("There are no tasks.");
  // It is not even offered to others.
  expect(
    (await asked(stage, "right", order(tool("register_group"), { chat: "local:x", id: "x" })))[0],
  ).not.toContain("is there");
  expect((await asked(stage, "main", order(tool("list_tasks"), {})))[0]).toContain(
    `"id":"${id}","group":"left"`,
  );
  expect((await asked(stage, "main", order(tool("pause_task"), { task_id: id })))[0]).toContain("is paused");
  expect((await asked(stage, "left", order(tool("list_tasks"), {})))[0]).toContain('"status":"paused"');
  expect((await asked(stage, "left", order(tool("resume_task"), { task_id: id })))[0]).toContain("goes on");
  await asked(stage, "main", order(tool("send_message"), { text: "From above.", group: "left" }));
  await until("it is there", async () => (await answersOf(stage, "left")).includes("From above."));
  expect((await asked(stage, "left", order(tool("cancel_task"), { task_id: id })))[0]).toContain(
    "is removed",
  );
  const chat = { chat: "telegram:-5", id: "club" };
  expect((await asked(stage, "main", order(tool("register_group"), chat)))[0]).toContain(
    "No channel has heard",
  );
  expect(folder).not.toBe("");
  for (const wrong of [
    { prompt: "x", schedule_type: "interval", schedule_value: "5s" },
    { prompt: "x", schedule_type: "cron", schedule_value: "every day" },
    { prompt: "x", schedule_type: "once", schedule_value: "2001-01-01T00:00Z" },
    { prompt: "x", schedule_type: "daily", schedule_value: "9" },
  ])
    expect((await asked(stage, "left", order(tool("schedule_task"), wrong)))[0]).not.toContain("Scheduled");
}, 120_000);

test("with a group its tasks go", async () => {
  verifies("S2.55");
  const { stage } = await openToolStage(["team"]);
  const wish = { prompt: "Later.", schedule_type: "cron", schedule_value: "0 9 * * 1-5" };
  await asked(stage, "team", order(tool("schedule_task"), wish));
  expect((await stage.run(["schedule", "list"])).stdout).toContain("later-");
  await stage.run(["groups", "remove", "team"]);
  expect((await stage.run(["schedule", "list"])).stdout).not.toContain("later-");
});
