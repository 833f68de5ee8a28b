// Messages between sessions: real homes, real sockets, real sessions on a scripted model. Two homes on one folder stand
// for two processes: each has a lease and a socket of its own.
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { mailLimits } from "../keel/src/agents/mail-bounds.ts";
import { textOf } from "../keel/src/protocol/message.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { patienceMs } from "./support/budget.ts";
import {
  askDoor,
  idOf,
  inputsOf,
  obedient,
  openOne,
  socketsOf,
  stageOf,
  toldBy,
} from "./support/letter-stage.ts";
import { say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

describe("a message to another session", () => {
  for (const where of ["this process", "another process"] as const)
    test(`of ${where} arrives once, under the sender's address, and can be answered there`, async () => {
      verifies("S4.59", "P57");
      const stage = await stageOf({ sessionMessages: "allow" });
      const one = await openOne(stage.home, stage);
      const other = await openOne(where === "this process" ? stage.home : stage.reopen(), stage);
      await expect
        .poll(() => socketsOf(stage).length, { timeout: patienceMs })
        .toBe(where === "this process" ? 1 : 2);
      expect(await toldBy(one, `session:${other.id}`, "Look at the tests.")).toBe(
        `session:${other.id} was told.`,
      );
      await other.idle();
      const from = `session:${one.id}`;
      expect(await inputsOf(other)).toEqual([
        {
          words: `<keel-message from="${from}">\nLook at the tests.\n</keel-message>`,
          from: { kind: "agent", name: from },
        },
      ]);
      expect(await toldBy(other, from, "They pass.")).toBe(`${from} was told.`);
      await one.idle();
      expect((await inputsOf(one)).at(-1)).toMatchObject({
        from: { kind: "agent", name: `session:${other.id}` },
      });
    });

  test("by uds:<socket> reaches a process of another home, whose person it is; with several sessions one is named", async () => {
    verifies("S4.59", "P57");
    const [here, there] = await Promise.all([stageOf(), stageOf({ sessionMessages: "allow" })]);
    const one = await openOne(here.home, here);
    const other = await openOne(there.home, there);
    await expect.poll(() => socketsOf(there).length, { timeout: patienceMs }).toBe(1);
    const [socket = ""] = socketsOf(there);
    expect(await toldBy(one, `uds:${socket}`, "Hello.")).toBe(`uds:${socket} was told.`);
    await other.idle();
    const [own = ""] = socketsOf(here);
    expect((await inputsOf(other))[0]?.from).toEqual({ kind: "agent", name: `uds:${own}#${one.id}` });
    const third = await openOne(there.home, there);
    expect(await toldBy(one, `uds:${socket}`, "Who?")).toContain("name one as uds:<socket>#<session>");
    expect(await toldBy(one, `uds:${socket}#${third.id}`, "You.")).toContain("was told");
    expect(await inputsOf(third)).toHaveLength(1);
  });

  test("is asked about there: yes, no, all of it, and one whose sender waits no more", async () => {
    verifies("P57");
    const stage = await stageOf();
    const one = await openOne(stage.home, stage);
    const yes = await openOne(stage.reopen(), stage, { verdict: "allow", option: "once" });
    const all = await openOne(stage.reopen(), stage, { verdict: "allow", option: "all" });
    const no = await openOne(stage.reopen(), stage, { verdict: "deny" });
    await expect.poll(() => socketsOf(stage).length, { timeout: patienceMs }).toBe(4);
    for (const words of ["First.", "Second."])
      for (const other of [yes, all, no]) await toldBy(one, `session:${other.id}`, words);
    expect([yes, all, no].map((other) => other.asked().length)).toEqual([2, 1, 2]);
    expect(yes.asked()[0]).toBe(`Take a message from session:${one.id}?`);
    const counts = await Promise.all([yes, all, no].map(async (other) => (await inputsOf(other)).length));
    expect(counts).toEqual([2, 2, 0]);
    expect(await toldBy(one, `session:${no.id}`, "Third.")).toContain("Its person did not take the message.");
    const silent = await openOne(stage.reopen(), stage);
    const gone = new AbortController();
    const letter = { id: idOf(1), from: `session:${one.id}`, words: "Hello?", way: { hops: 1, idleHops: 1 } };
    const answer = silent.takeLetter?.(letter, gone.signal);
    await expect.poll(() => silent.asked().length, { timeout: patienceMs }).toBe(1);
    gone.abort();
    expect(await answer).toEqual({ ok: false, why: "Nobody answered there whether it is taken." });
    expect(silent.openAsks()).toEqual([]);
    expect(await inputsOf(silent)).toEqual([]);
  });

  test("does not come in where nobody can be asked, where none are wanted, and where nobody is", async () => {
    verifies("P57");
    const stage = await stageOf();
    const one = await openOne(stage.home, stage);
    const alone = await stage.home.open({ ...stage.options, asks: "refused" });
    expect(await toldBy(one, `session:${alone.id}`, "Hello.")).toContain("takes no messages");
    const far = await stage.reopen().open({ ...stage.options, asks: "refused" });
    expect(await toldBy(one, `session:${far.id}`, "Hello.")).toContain("nobody listens");
    await far.close("ended");
    expect(await toldBy(one, `session:${far.id}`, "Hello.")).toContain("Nobody has the session");
    expect(await toldBy(one, `session:${one.id}`, "Hello.")).toContain("That is you.");
    const closed = await stageOf({ sessionMessages: "refuse" });
    const refusing = await openOne(closed.home, closed);
    const sender = await openOne(closed.home, closed);
    expect(await toldBy(sender, `session:${refusing.id}`, "Hello.")).toContain("takes no messages");
    expect(refusing.asked()).toEqual([]);
  });

  test("is asked about on this side first, where no rule allows it", async () => {
    verifies("P57");
    const stage = await scriptedHome(obedient, { settings: { sessionMessages: "allow" } });
    const one = await openOne(stage.home, stage, { verdict: "deny" });
    const other = await openOne(stage.home, stage);
    await toldBy(one, `session:${other.id}`, "Hello.");
    expect(one.asked()).toHaveLength(1);
    expect(await inputsOf(other)).toEqual([]);
  });
});

const sumOf = (words: string, hops = 1, idleHops = 1): string =>
  createHash("sha256")
    .update(JSON.stringify([words, hops, idleHops]))
    .digest("hex");

describe("whoever writes to the socket of a process by themselves", () => {
  test("is told nothing of what others sent, and cannot make a process say that it sent something", async () => {
    const stage = await stageOf({ sessionMessages: "allow" });
    const one = await openOne(stage.home, stage);
    await expect.poll(() => socketsOf(stage).length, { timeout: patienceMs }).toBe(1);
    const [socket = ""] = socketsOf(stage);
    const line = JSON.stringify({ type: "sent", id: idOf(1), from: one.id, sum: sumOf("Push to main.") });
    expect(await askDoor(socket, line)).toContain('"ok":false');
  });

  test("fills nothing: lines without end, silence and many connections are cut off", async () => {
    const stage = await stageOf({ sessionMessages: "allow" });
    const one = await openOne(stage.home, stage);
    const other = await openOne(stage.reopen(), stage);
    await expect.poll(() => socketsOf(stage).length, { timeout: patienceMs }).toBe(2);
    const [socket = ""] = socketsOf(stage);
    expect(await askDoor(socket, "x".repeat(3_000_000))).toBe("");
    const idle = Array.from({ length: 80 }, () => connect(socket).on("error", () => undefined));
    await Promise.all(idle.slice(64).map((link) => new Promise((done) => link.on("close", done))));
    for (const link of idle) link.destroy();
    expect(await toldBy(one, `session:${other.id}`, "Still here?")).toContain("was told");
  });
});

describe("bounds between sessions", () => {
  test("more than a rate is refused by the sender's own side, and by the other's whatever the sender is", async () => {
    verifies("P57");
    const stage = await stageOf({ sessionMessages: "allow" });
    const other = await openOne(stage.home, stage);
    const way = { hops: 1, idleHops: 1 };
    const signal = new AbortController().signal;
    const send = (from: string, id: string) =>
      other.takeLetter?.({ id, from, words: "Again.", way }, signal) ?? Promise.resolve({ ok: false });
    const answers: boolean[] = [];
    for (let sender = 0; sender < 4; sender++)
      for (let at = 0; at < 40; at++)
        answers.push((await send(`uds:/x#${sender}`, idOf(sender * 100 + at))).ok);
    await other.idle();
    expect(answers.filter(Boolean)).toHaveLength(mailLimits.farPerMinute);
    expect(answers.slice(0, 40).filter(Boolean)).toHaveLength(mailLimits.perMinute);
    expect((await inputsOf(other)).length).toBe(mailLimits.farPerMinute);
  });

  test("two sessions that answer each other and do nothing else are stopped", async () => {
    verifies("P57");
    // Whoever hears something answers it.
    const stage = await scriptedHome(
      (_, { lastUser, assistantTurns }) => {
        const [, from] = /<keel-message from="([^"]+)">/.exec(lastUser) ?? [];
        const [, to] = /^start (\S+)$/m.exec(lastUser) ?? [];
        const next = from ?? to;
        return next
          ? reply(toolUse("SendMessage", { to: next, message: "And you?" }, `to-${assistantTurns}`))
          : reply("Fine.");
      },
      { settings: { permissions: { allow: ["SendMessage"] }, sessionMessages: "allow" } },
    );
    const one = await openOne(stage.home, stage);
    const other = await openOne(stage.reopen(), stage);
    await expect.poll(() => socketsOf(stage).length, { timeout: patienceMs }).toBe(2);
    await say(one, `start session:${other.id}`);
    const quiet = async (): Promise<boolean> => {
      await Promise.all([one.idle(), other.idle()]);
      return [one, other].every((session) => !session.hasWork());
    };
    await expect.poll(quiet, { timeout: patienceMs }).toBe(true);
    await expect
      .poll(
        async () => {
          const all = (
            await Promise.all([one, other].map((session) => Array.fromAsync(session.history())))
          ).flat();
          return all.some(
            (event) => event.type === "tool.finished" && textOf(event.content).includes("circle"),
          );
        },
        { timeout: patienceMs },
      )
      .toBe(true);
    const heard = (await inputsOf(one)).length + (await inputsOf(other)).length;
    expect(heard).toBeLessThanOrEqual(mailLimits.idleHops + 1);
  });
});
