import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { agree, say, scriptedHome } from "../../../test/support/scripted-home.ts";
import { codeOf, Fault } from "../kernel/fault.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { type Envelope, isDurable } from "../protocol/event/envelope.ts";
import { byPosition, reply, toolUse } from "../testing/reply.ts";
import type { OpenSession } from "./open-session.ts";

const id = "00000000-0000-7000-8000-000000000001";

const locks = (home: { path: string }): string[] =>
  readdirSync(path.join(home.path, "run")).filter((name) => /\.(?:lock|lease)$/.test(name));

describe("two homes in one process", () => {
  test("work side by side, and closing one leaves the other at work", async () => {
    const touch = [reply(toolUse("Bash", { command: "touch asked" })), reply("ok")];
    const wait = [reply(toolUse("Bash", { command: "touch begun; sleep 1.5; touch ended" })), reply("ok")];
    const one = await scriptedHome(byPosition(touch));
    const other = await scriptedHome(byPosition([...touch, ...wait]));
    // The same id: neither of them holds the other's session.
    const which = { kind: "new", id } as const;
    const first = await one.home.open({ ...one.options, which });
    const second = await other.home.open({ ...other.options, which });
    for (const session of [first, second]) agree(session);
    await Promise.all([first, second].map((session) => say(session, "go")));
    await Promise.all([first.idle(), second.idle()]);
    expect([one, other].map(({ cwd }) => existsSync(path.join(cwd, "asked")))).toEqual([true, true]);
    expect([locks(one.home).length, locks(other.home).length]).toEqual([2, 2]);

    await say(second, "go on");
    await expect.poll(() => existsSync(path.join(other.cwd, "begun"))).toBe(true);
    await one.home.close();
    await second.idle();

    expect(existsSync(path.join(other.cwd, "ended"))).toBe(true);
    const ends = (await Array.fromAsync(second.history())).filter(({ type }) => type === "turn.finished");
    expect(ends).toMatchObject([{ reason: "completed" }, { reason: "completed" }]);
    expect([locks(one.home).length, locks(other.home).length]).toEqual([0, 2]);
    await expect(say(first, "more")).rejects.toMatchObject({ code: "session_closed" });
    await expect(one.home.open(one.options)).rejects.toMatchObject({ code: "session_closed" });
    expect(await one.home.sessions.list({})).toMatchObject([{ id }]);
  });

  test("closing one while a session of it is being opened leaves none open", async () => {
    const { home, options } = await scriptedHome(byPosition([]));
    const which = { kind: "new", id } as const;
    // At any moment of an opening, not only at its first.
    const opened = Array.from({ length: 10 }, (_, index) =>
      home.open(index === 0 ? { ...options, which } : options).catch((thrown: unknown) => thrown),
    );
    await Promise.race([...opened, new Promise((resolve) => setTimeout(resolve, 5))]);
    await home.close();
    const refused = (await Promise.all(opened)).map((one) =>
      one instanceof Fault ? one : say(one as OpenSession, "go").catch((thrown: unknown) => thrown),
    );
    expect(new Set((await Promise.all(refused)).map(codeOf))).toEqual(new Set(["session_closed"]));
    expect(locks(home)).toEqual([]);
  });

  test("that read their first commands at the same moment both understand them", async () => {
    const list = [reply(toolUse("Bash", { command: "ls | head -n 1" })), reply("ok")];
    const homes = await Promise.all([1, 2, 3].map(() => scriptedHome(byPosition(list))));
    const sessions = await Promise.all(homes.map(({ home, options }) => home.open(options)));
    const asked: Envelope[] = [];
    for (const session of sessions)
      session.onEvent((event) => event.type === "ask.opened" && asked.push(event));
    for (const session of sessions) agree(session);
    await Promise.all(sessions.map((session) => say(session, "go").then(() => session.idle())));
    // What only reads is run without a question; a text that is not understood is asked about.
    expect(asked).toEqual([]);
  });
});

describe("attach", () => {
  const words = "word ".repeat(200);
  const own = (events: readonly Envelope[]): Durable[] =>
    events.filter((event): event is Durable => isDurable(event) && !event.origin);

  test("gives what was and what comes, without a gap and nothing twice, however late", async () => {
    const { home, options } = await scriptedHome({ replies: [], otherwise: reply(words) });
    const session = await home.open(options);
    const readers: Promise<{ after: number; got: Envelope[] }>[] = [];
    const attach = (after: number): void =>
      void readers.push(Array.fromAsync(home.attach(session.id, after)).then((got) => ({ after, got })));
    attach(0);
    // Whoever comes, comes in the middle of something: at a piece of a reply, at an event, between two of them.
    let count = 0;
    session.onEvent((event) => {
      count += 1;
      if (count % 7 === 0) attach(0);
      if (isDurable(event) && event.seq % 3 === 0) attach(event.seq - 2);
    });
    for (const number of [1, 2, 3]) {
      await say(session, `input ${number}`);
      await session.idle();
    }
    await session.close("ended");
    const log = await Array.fromAsync(home.sessions.read(session.id));
    expect(readers.length).toBeGreaterThan(5);
    for (const { after, got } of await Promise.all(readers))
      expect(own(got)).toEqual(log.filter(({ seq }) => seq > after));
    const [first] = await Promise.all(readers);
    expect(first?.got.some(({ type }) => type === "text.delta")).toBe(true);
  });

  test("gives the log of a session that nobody has open, and ends", async () => {
    const { home, options } = await scriptedHome({ replies: [], otherwise: reply("ok") });
    const session = await home.open(options);
    await say(session, "hello");
    await session.idle();
    await session.close("ended");
    const all = await Array.fromAsync(home.attach(session.id));
    expect(own(all).map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(await Array.fromAsync(home.attach(session.id, 3))).toEqual(all.slice(3));
    await expect(Array.fromAsync(home.attach(id))).rejects.toMatchObject({ code: "session_unknown" });
  });
});
