// How the executable of an SDK ends: by the end of its input, by its last result, by signals, by force.
import { describe, expect, test } from "vitest";
import { httpError, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { openStage, until } from "./stage.ts";
import { isResult, openWire, statesIn } from "./wire-client.ts";

describe("the end", () => {
  test("after the end of its input the turn is finished, what waits too, and the code tells of success", async () => {
    const stage = await openStage({ replies: [replyWith({ delayMs: 300 }, "One."), reply("Two.")] });
    const wire = openWire(stage);
    wire.say("one", { priority: "later" });
    wire.say("two", { priority: "later" });
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(wire.results()).toMatchObject([{ result: "One." }, { result: "Two." }]);
    expect(statesIn(wire.lines).at(-1)).toBe("idle");
  });

  test("a task in the background is waited for, and its end has a turn", async () => {
    const stage = await openStage({
      replies: [
        reply(toolUse("Bash", { command: "sleep 1; echo ready", run_in_background: true })),
        reply("Started."),
        reply("It is ready."),
      ],
    });
    const wire = openWire(stage, { args: ["--allowedTools=Bash"] });
    wire.say("go");
    wire.endInput();
    expect((await wire.ended).code).toBe(0);
    expect(wire.results()).toMatchObject([{ result: "Started." }, { result: "It is ready." }]);
    expect(statesIn(wire.lines)).toEqual(["running", "idle", "running", "idle"]);
  });

  test("a failed result is also the code", async () => {
    const stage = await openStage({ replies: [httpError(400)] });
    const wire = openWire(stage);
    wire.say("go");
    wire.endInput();
    expect((await wire.ended).code).toBe(1);
    expect(wire.results()).toMatchObject([{ is_error: true }]);
    expect(statesIn(wire.lines).at(-1)).toBe("idle");
  });

  test("a session that there is not is one failed result and nothing else", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage, { args: ["--resume=99999999-9999-4999-8999-999999999999"] });
    wire.say("go");
    wire.endInput();
    expect((await wire.ended).code).toBe(1);
    expect(wire.lines).toMatchObject([{ type: "result", subtype: "error_during_execution" }]);
  });

  test("what keeps a session from opening is told to whoever introduced himself, and by the code", async () => {
    const stage = await openStage({ replies: [] });
    const wire = openWire(stage, { args: ["--settings", "/nowhere/settings.json"] });
    await expect(wire.request({ subtype: "initialize" })).rejects.toThrow();
    expect((await wire.ended).code).not.toBe(0);
    expect(wire.err()).toContain("keel:");
  });

  test("SIGINT ends the turn with its result and is no failure", async () => {
    const stage = await openStage({ replies: [reply(toolUse("Bash", { command: "sleep 30" }))] });
    const wire = openWire(stage, { args: ["--allowedTools=Bash"] });
    wire.say("sleep");
    await until("the command runs", () => stage.log().some(({ type }) => type === "tool.started"));
    wire.child.kill("SIGINT");
    expect(await wire.ended).toEqual({ code: 0, signal: null });
    expect(wire.results()).toMatchObject([{ subtype: "error_during_execution" }]);
    expect(stage.log().at(-1)?.type).toBe("session.closed");
  });

  test("SIGTERM ends it at once, with the log whole", async () => {
    const stage = await openStage({ replies: [reply(toolUse("Bash", { command: "sleep 30" }))] });
    const wire = openWire(stage, { args: ["--allowedTools=Bash"] });
    wire.say("sleep");
    await until("the command runs", () => stage.log().some(({ type }) => type === "tool.started"));
    const asked = performance.now();
    wire.child.kill("SIGTERM");
    expect(await wire.ended).toEqual({ code: 143, signal: null });
    expect(performance.now() - asked).toBeLessThan(5_000);
    expect(stage.log().at(-1)?.type).toBe("session.closed");
  });

  test("a killed executable leaves a session that goes on", async () => {
    const stage = await openStage({
      replies: [reply("One."), replyWith({ delayMs: 5_000 }, "Two."), reply("Three.")],
    });
    const first = openWire(stage);
    first.say("one");
    const { session_id: session } = await first.line("a result", isResult);
    first.say("two");
    await until("the second request", () => stage.server.requests.length === 2);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = openWire(stage, { args: [`--resume=${session}`] });
    second.say("three");
    second.endInput();
    expect((await second.ended).code).toBe(0);
    expect(second.results()).toMatchObject([{ result: "Three.", session_id: session }]);
    expect(JSON.stringify(stage.server.requests.at(-1)?.body)).toContain("one");
  });
});
