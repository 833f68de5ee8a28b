// Going on: with a session, with the newest one, in a copy, and after an end that nobody planned.
import { appendFileSync, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { lines, openStage, type Stage, types, until } from "./stage.ts";

describe("going on", () => {
  test("--resume and --continue go on with the whole conversation, under the same id", async () => {
    verifies("S2.9", "S4.54");
    const stage = await openStage({ replies: [reply("first"), reply("second"), reply("third")] });
    await stage.run(["-p", "one"]);
    const [id = ""] = stage.sessions();
    const resumed = await stage.run(["-p", "two", "--resume", id]);
    const continued = await stage.run(["-p", "three", "--continue"]);
    expect([resumed.stdout, continued.stdout]).toEqual(["second\n", "third\n"]);
    expect(stage.sessions()).toEqual([id]);
    const asked = JSON.stringify(stage.server.requests[2]?.body["messages"]);
    for (const said of ["one", "first", "two", "second", "three"]) expect(asked).toContain(said);
    expect(stage.server.requests[2]?.body["system"]).toEqual(stage.server.requests[0]?.body["system"]);
  });

  test("--fork goes on in a copy that names its origin, and leaves the origin as it is", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("ok") });
    await stage.run(["-p", "one"]);
    const [origin = ""] = stage.sessions();
    const before = stage.log(origin);
    const id = "11111111-2222-4333-8444-555555555555";
    const ended = await stage.run(["-p", "two", "--resume", origin, "--fork", "--session-id", id]);
    expect(ended.code).toBe(0);
    expect(stage.log(origin)).toEqual(before);
    expect(stage.sessions().sort()).toEqual([origin, id].sort());
    expect(stage.log(id)[0]).toMatchObject({ type: "session.opened", forkedFrom: { session: origin } });
    expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("one");
  });

  test("the totals of a session go on too", async () => {
    verifies("S4.54");
    const stage = await openStage({ replies: [], otherwise: reply("ok") });
    const first = lines((await stage.run(["-p", "one", "--output-format", "json"])).stdout)[0];
    const second = lines((await stage.run(["-p", "two", "-c", "--output-format", "json"])).stdout)[0];
    expect(second?.["total_cost_usd"]).toBeCloseTo(2 * Number(first?.["total_cost_usd"]), 8);
  });

  test("a session keeps its model, but never a mode that skips permissions", async () => {
    const touch = reply(toolUse("Bash", { command: "touch made" }));
    const stage = await openStage(byPosition([touch, reply("ok"), touch, reply("ok")]));
    const bypass = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"];
    await stage.run(["-p", "one", "--model", "claude-opus-4-5", ...bypass]);
    expect(existsSync(path.join(stage.project, "made"))).toBe(true);
    const resumed = await stage.run(["-p", "two", "--continue", "--output-format", "json"]);
    expect(stage.server.requests.map(({ body }) => body["model"])).toEqual(Array(4).fill("claude-opus-4-5"));
    expect(lines(resumed.stdout)[0]).toMatchObject({ permission_denials: [{ tool_name: "Bash" }] });
  });
});

describe("after a kill", () => {
  test("a new prompt gives the unfinished turn up as lost and is answered", async () => {
    const stage = await openStage({ replies: [replyWith({ delayMs: 60_000 }, "never"), reply("answered")] });
    const id = await killed(stage);
    const ended = await stage.run(["-p", "two", "--resume", id]);
    expect(ended).toMatchObject({ code: 0, stdout: "answered\n" });
    const turns = stage.log().filter(({ type }) => type === "turn.finished");
    expect(turns.map(({ reason }) => reason)).toEqual(["lost", "completed"]);
  });

  test("without a prompt the unfinished turn goes on and ends", async () => {
    const stage = await openStage({
      replies: [replyWith({ delayMs: 60_000 }, "never"), reply("in the end")],
    });
    const id = await killed(stage);
    const ended = await stage.run(["-p", "--resume", id], { env: { KEEL_MAX_RETRIES: "2" } });
    expect(ended).toMatchObject({ code: 0, stdout: "in the end\n" });
    expect(types(stage.log()).filter((type) => type === "input.accepted")).toHaveLength(1);
    expect(types(stage.log()).filter((type) => type === "turn.finished")).toHaveLength(1);
    // Now there is nothing left to go on with.
    expect(await stage.run(["-p", "--resume", id])).toMatchObject({ code: 64, stdout: "" });
  });

  test("a damaged end of the log is told, and everything before it is there", async () => {
    const stage = await openStage({ replies: [], otherwise: reply("ok") });
    await stage.run(["-p", "remember me"]);
    const { stdout } = await stage.run(["sessions", "list", "--json"]);
    const [{ id }] = JSON.parse(stdout);
    appendFileSync(logFile(stage, id), '{"seq":99,"half a rec');
    const ended = await stage.run(["-p", "two", "--continue"]);
    expect(ended).toMatchObject({ code: 0, stdout: "ok\n" });
    expect(ended.stderr).toContain("damaged");
    expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("remember me");
  });
});

describe("what cannot go on", () => {
  test("an unknown session ends with 66; where the folder has none, --continue begins one", async () => {
    const stage = await openStage({ replies: [reply("begun")] });
    const unknown = await stage.run(["-p", "x", "--resume", "11111111-2222-4333-8444-555555555555"]);
    expect(unknown).toMatchObject({ code: 66, stdout: "" });
    expect(unknown.stderr).toContain("No conversation found with session ID: 11111111");
    expect((await stage.run(["-p", "--continue"])).code).toBe(66);
    expect(stage.sessions()).toEqual([]);
    expect(await stage.run(["-p", "x", "--continue"])).toMatchObject({ code: 0, stdout: "begun\n" });
    expect(stage.sessions()).toHaveLength(1);
  });

  test("a path is no session id and ends with 64", async () => {
    const stage = await openStage({ replies: [] });
    expect((await stage.run(["-p", "x", "--resume", "../../etc/passwd"])).code).toBe(64);
  });

  test("a session that is open elsewhere ends with 75 and can be forked meanwhile", async () => {
    const stage = await openStage({
      replies: [replyWith({ delayMs: 60_000 }, "never")],
      otherwise: reply("in the copy"),
    });
    const holder = stage.start(["-p", "hold it"]);
    holder.child.stdin?.end();
    await until("the first request", () => stage.server.requests.length === 1);
    const [id = ""] = stage.sessions();
    const refused = await stage.run(["-p", "x", "--resume", id]);
    expect(refused).toMatchObject({ code: 75, stdout: "" });
    expect(refused.stderr).toContain("open in another process");
    const forked = await stage.run(["-p", "x", "--resume", id, "--fork"]);
    expect(forked).toMatchObject({ code: 0, stdout: "in the copy\n" });
    expect(holder.child.exitCode).toBeNull();
  });
});

/** Starts a turn, waits until the model was asked, and kills the command. Returns the session's id. */
async function killed(stage: Stage): Promise<string> {
  const running = stage.start(["-p", "one"]);
  running.child.stdin?.end();
  await until("the first request", () => stage.server.requests.length === 1);
  running.child.kill("SIGKILL");
  await running.ended;
  return stage.sessions()[0] ?? "";
}

function logFile(stage: Stage, id: string): string {
  const [key = ""] = readdirSync(path.join(stage.home, "projects"));
  return path.join(stage.home, "projects", key, `${id}.jsonl`);
}
