import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { memoryLog, openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { Answer } from "../protocol/ask.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { enterPlanModeTool, exitPlanModeTool } from "./plan-mode.ts";
import { writeTool } from "./write.ts";

let cwd = "";
let outside = "";
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-plan-")));
  outside = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-session-")));
});
afterEach(() => {
  for (const folder of [cwd, outside]) rmSync(folder, { recursive: true, force: true });
});

const planFile = () => path.join(outside, "plans", "plan.md");
const plan = "# Plan\n1. Do A\n";
const allow: Answer = { verdict: "allow" };
type Use = ReturnType<typeof toolUse>;

async function run(uses: readonly Use[], more: Partial<TestSessionOptions> = {}) {
  const session = await openTestSession({
    tools: [enterPlanModeTool, exitPlanModeTool, writeTool],
    workspace: realWorkspace({ cwd }),
    clock: realClock,
    settings: { permissionMode: "plan" },
    planFile: planFile(),
    script: { replies: [...uses.map((use) => reply(use)), reply("done")] },
    ...more,
  });
  await session.say("go");
  const finished = session.all("tool.finished");
  const said = (index: number): string => {
    const part = finished.at(index)?.content[0];
    return part?.type === "text" ? part.text : "";
  };
  const modes = session.all("settings.changed").map(({ patch }) => patch.permissionMode);
  return { ...session, finished, said, modes };
}
const write = (file: string, content: string) => toolUse("Write", { file_path: file, content });
const exit = (input: Record<string, string> = {}) => toolUse("ExitPlanMode", input);

describe("a plan", () => {
  test("is written to its file unasked, shown whole, and approved: then the work begins", async () => {
    verifies("P23");
    const { all, finished, said, modes } = await run([
      write(planFile(), plan),
      exit(),
      write(path.join(cwd, "x.txt"), "x"),
    ]);
    expect(all("ask.opened").map(({ ask }) => `${ask.kind} ${ask.tool}`)).toEqual([
      "plan ExitPlanMode",
      "permission Write",
    ]);
    expect(all("ask.opened")[0]?.ask).toMatchObject({
      body: { kind: "markdown", text: plan },
      input: { plan, planFilePath: planFile() },
    });
    expect(finished[1]).toMatchObject({
      failed: false,
      data: { plan, filePath: planFile(), isAgent: false },
    });
    expect(said(1)).toContain(plan);
    expect(modes).toEqual(["default"]);
    expect(readFileSync(path.join(cwd, "x.txt"), "utf8")).toBe("x");
  });

  test("waits a day for its person, and then the work goes on without them", async () => {
    verifies("S0.40");
    const clock = fakeClock();
    const session = await openTestSession({
      tools: [exitPlanModeTool],
      workspace: realWorkspace({ cwd }),
      clock,
      settings: { permissionMode: "plan" },
      planFile: planFile(),
      script: { replies: [reply(exit({ plan })), reply("done")] },
      answer: () => undefined,
    });
    const done = session.say("go");
    while (session.all("ask.opened").length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(23 * 3_600_000);
    expect(session.all("ask.closed")).toEqual([]);
    await clock.advance(3_600_000);
    await done;
    expect(session.all("ask.closed")).toMatchObject([{ by: "timeout" }]);
    expect(session.session.state.settings?.permissionMode).toBe("plan");
  });

  test("may be given with the call; it is kept in the file", async () => {
    const { finished } = await run([exit({ plan: "1. Do B" })]);
    expect(finished[0]).toMatchObject({ failed: false, data: { plan: "1. Do B" } });
    expect(readFileSync(planFile(), "utf8")).toBe("1. Do B");
  });

  test("that is not approved goes back to the model with the reason, and plan mode stays", async () => {
    const { finished, said, modes, session } = await run(
      [exit({ plan: "1. Do A" }), write(path.join(cwd, "x"), "x")],
      {
        answer: () => ({ verdict: "deny", reason: "Revise the plan" }),
      },
    );
    expect(finished[0]).toMatchObject({ failed: true, denied: { by: "host", reason: "Revise the plan" } });
    expect(said(0)).toContain("Revise the plan");
    expect(modes).toEqual([]);
    expect(session.state.settings?.permissionMode).toBe("plan");
    expect(finished[1]).toMatchObject({ denied: { by: "mode" } });
    expect(existsSync(path.join(cwd, "x"))).toBe(false);
  });

  test.each<[string, Answer]>([
    ["data", { verdict: "allow", data: { plan: "1. Do C" } }],
    ["a changed input", { verdict: "allow", input: { plan: "1. Do C" } }],
  ])("may be changed by the person, by %s", async (_, answer) => {
    const { finished, said } = await run([exit({ plan: "1. Do A" })], { answer: () => answer });
    expect(finished[0]?.data).toMatchObject({ plan: "1. Do C", planWasEdited: true });
    expect(said(0)).toContain("changed the plan");
    expect(readFileSync(planFile(), "utf8")).toBe("1. Do C");
  });

  test("approved with free edits leads on without a question about them", async () => {
    const { all, modes } = await run([exit({ plan: "1. Do A" }), write(path.join(cwd, "x.txt"), "x")], {
      answer: () => ({ verdict: "allow", option: "edits" }),
    });
    expect(modes).toEqual(["acceptEdits"]);
    expect(all("ask.opened")).toHaveLength(1);
  });

  test("that is nowhere is asked for, with the place to put it", async () => {
    const { all, finished, said } = await run([exit(), exit({ plan: " " })]);
    expect(all("ask.opened")).toEqual([]);
    expect(finished.map(({ invalid }) => invalid)).toEqual([true, true]);
    expect(said(0)).toContain(`Write it to ${planFile()}, or give it as plan.`);
  });

  test("needs no file where nothing is kept", async () => {
    const session = await openTestSession({
      tools: [exitPlanModeTool],
      settings: { permissionMode: "plan" },
      script: { replies: [reply(exit()), reply(exit({ plan: "1. Do A" })), reply("done")] },
    });
    await session.say("go");
    const [first, second] = session.all("tool.finished");
    expect(first?.content).toMatchObject([{ text: "There is no plan yet. Give it as plan." }]);
    expect(second).toMatchObject({ failed: false, data: { plan: "1. Do A" } });
    expect(second?.data).not.toHaveProperty("filePath");
  });

  test("that was approved before a crash is approved after it, once", async () => {
    const whole = memoryLog();
    await run([exit({ plan: "1. Do A" })], { log: whole, answer: () => allow });
    // After the mode was changed and before the outcome was on disk.
    const cut = whole.events.findIndex(({ type }) => type === "settings.changed");
    const second = await openTestSession({
      log: memoryLog({ events: whole.events.slice(0, cut + 1) }),
      tools: [exitPlanModeTool],
      workspace: realWorkspace({ cwd }),
      clock: realClock,
      planFile: planFile(),
      script: { replies: [reply("done")] },
      answer: () => undefined,
    });
    await second.session.run();
    expect(second.all("tool.finished")).toMatchObject([{ failed: false }]);
    expect(second.session.state.settings?.permissionMode).toBe("default");
  });
});

describe("plan mode", () => {
  test("is entered without a question, and from then on nothing else is written", async () => {
    const { all, finished, said, modes } = await run(
      [toolUse("EnterPlanMode", {}), write(path.join(cwd, "x"), "x"), write(planFile(), plan)],
      { settings: { permissionMode: "default" } },
    );
    expect(all("ask.opened")).toEqual([]);
    expect(modes).toEqual(["plan"]);
    expect(finished.map(({ failed }) => failed)).toEqual([false, true, false]);
    expect(said(0)).toContain(planFile());
    expect(finished[0]?.data).toEqual({ message: said(0) });
    expect(readFileSync(planFile(), "utf8")).toBe(plan);
  });

  test("is not entered twice, and not left where it is not on", async () => {
    const twice = await run([toolUse("EnterPlanMode", {})]);
    expect(twice.said(0)).toBe("Plan mode is on already.");
    const none = await run([exit({ plan: "1." })], { settings: { permissionMode: "default" } });
    expect(none.said(0)).toContain("Plan mode is not on");
    expect(none.all("ask.opened")).toEqual([]);
  });
});
