// Schedules that a model makes: a real home with a real book, a session on a scripted model, and a person who is asked.
import { expect, test } from "vitest";
import { addSchedule } from "../keel/src/app/schedules/change-schedules.ts";
import { homeScheduler } from "../keel/src/app/schedules/home-scheduler.ts";
import { ServedSessions } from "../keel/src/app/sessions/served-sessions.ts";
import type { JsonObject } from "../keel/src/kernel/json.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

type Call = { readonly tool: string; readonly input: JsonObject };

/** A session whose model makes these calls, one a turn; its person answers each question so. */
async function stageOf(
  verdict: "allow" | "deny",
  permissionMode: "default" | "acceptEdits" | "plan" = "default",
) {
  const calls: Call[] = [];
  const stage = await scriptedHome((_, { number, toolResults, lastUser }) => {
    if (lastUser.includes("Do it then.")) return reply("Done then.");
    if (number === 1)
      return reply(toolUse("ToolSearch", { query: "select:schedule_task,list_tasks,cancel_task" }, "load"));
    const next = toolResults === "" || number === 2 ? calls.shift() : undefined;
    return next ? reply(toolUse(next.tool, next.input, `call-${number}`)) : reply("Fine.");
  });
  const session = await stage.home.open({ ...stage.options, permissionMode });
  const asked: string[] = [];
  session.onEvent((event) => {
    if (event.type !== "ask.opened") return;
    asked.push(event.ask.tool ?? "");
    void session.submit({ type: "answer", askId: event.ask.id, answer: { verdict } });
  });
  const call = async (tool: string, input: JsonObject = {}): Promise<string> => {
    calls.push({ tool, input });
    await say(session, "go on");
    await session.idle();
    const results = (await Array.fromAsync(session.history())).flatMap((event) =>
      event.type === "tool.finished" && event.callId !== "load" ? [textOf(event.content)] : [],
    );
    return results.at(-1) ?? "";
  };
  const book = await stage.home.scheduleBook();
  return { stage, session, asked, call, book };
}

const daily = { prompt: "Look at the issues.", schedule_type: "cron", schedule_value: "0 9 * * 1-5" };

test("a model makes, lists and ends its own schedules, and its person is asked", async () => {
  verifies("S2.55");
  const { stage, session, asked, call, book } = await stageOf("allow", "acceptEdits");
  const bell = { ring: async () => undefined, listen: async () => () => undefined };
  const now = Date.now();
  await addSchedule({ id: "own", every: "1h", prompt: "Mine.", cwd: stage.cwd }, { book, bell, now });
  await addSchedule({ id: "else", every: "1h", prompt: "There.", cwd: "/elsewhere" }, { book, bell, now });
  const made = await call("schedule_task", { ...daily, time_zone: "Europe/Berlin", name: "issues" });
  expect(made).toContain("Scheduled. issues (yours): 0 9 * * 1-5 (Europe/Berlin), next 2");
  expect(await book.find("issues")).toMatchObject({
    by: session.id,
    cwd: stage.cwd,
    // Nobody watches: no mode goes along that lets run what a person would be asked about.
    options: { permissionMode: "default", maxTurns: 50 },
  });
  const here = { prompt: "And now?", schedule_type: "interval", schedule_value: "2h", in_this_session: true };
  expect(await call("schedule_task", here)).toContain("and-now (yours): every 2h");
  expect(await book.find("and-now")).toMatchObject({ session: session.id, options: {} });
  const listed = await call("list_tasks");
  expect(listed.split("\n").map((line) => line.split(":")[0])).toEqual([
    "and-now (yours)",
    "issues (yours)",
    "own (the user's)",
  ]);
  expect(await call("cancel_task", { task_id: "own" })).toContain("own is not yours");
  expect(await call("cancel_task", { task_id: "issues" })).toBe("issues is removed.");
  expect((await book.list()).map(({ id }) => id).sort()).toEqual(["and-now", "else", "own"]);
  expect(asked).toEqual(["schedule_task", "schedule_task", "cancel_task", "cancel_task"]);
  await book.close();
});

test("without a yes nothing is scheduled, and what is no time is said", async () => {
  verifies("S2.55");
  const refused = await stageOf("deny");
  await refused.call("schedule_task", daily);
  expect(await refused.book.list()).toEqual([]);
  await refused.book.close();
  const { call, book } = await stageOf("allow");
  const task = (schedule_type: string, schedule_value: string, more = {}) =>
    call("schedule_task", { prompt: "Go.", schedule_type, schedule_value, ...more });
  expect(await task("once", "2099-01-01T09:00")).toContain("Give the time with its offset");
  expect(await task("once", "2001-01-01T09:00:00Z")).toContain("That is never due");
  expect(await task("interval", "5s")).toContain("at least a minute");
  expect(await task("cron", "0 9 * * *", { time_zone: "Nowhere/None" })).toContain("Nowhere/None");
  expect(await task("cron", "all the time")).toContain("all the time");
  expect(await book.list()).toEqual([]);
  await book.close();
});

test("models of a home make no more than a bound", async () => {
  const { stage, call, book } = await stageOf("allow");
  const bell = { ring: async () => undefined, listen: async () => () => undefined };
  for (let count = 0; count < 50; count++)
    await addSchedule(
      { id: `m-${count}`, every: "1h", prompt: "Go.", cwd: stage.cwd, by: "another" },
      { book, bell, now: Date.now() },
    );
  expect(await call("schedule_task", daily)).toContain("which is the most");
  await book.close();
});

test("what a model has scheduled is started when it is due, in a session of its own", async () => {
  verifies("S2.55");
  const { stage, session, call, book } = await stageOf("allow");
  await call("schedule_task", {
    prompt: "Do it then.",
    schedule_type: "once",
    schedule_value: "2099-01-01T00:00:00Z",
    name: "then",
  });
  const kept = await book.find("then");
  if (!kept) throw new Error("it is not there");
  // The time has come.
  await book.keep({ ...kept, when: { kind: "once", at: Date.now() - 1_000 }, from: 0 });
  const { home, env } = stage;
  const served = new ServedSessions({
    home,
    version: "0",
    env: { ...env, KEEL_MODEL: "claude-sonnet-4-5" },
    boot: "b",
    pid: 1,
    clients: () => 0,
  });
  const { scheduler, close } = await homeScheduler(home, served, { asks: "left", tell: () => undefined });
  await scheduler.runDue();
  const [run] = await book.runs("then");
  expect(run?.end).toMatchObject({ how: "done", why: "completed" });
  expect(run?.session).not.toBe(session.id);
  await close();
  await book.close();
});
