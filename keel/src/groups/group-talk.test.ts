// What is said in a group, over crashes at every step: the book is a real database, the rest are fakes of ports.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countOf } from "../../../test/support/budget.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { AgentSays, ChatChannel, GroupAgent, GroupBook, SendOutcome } from "../ports/groups.ts";
import { SqliteGroupBook } from "../store/groups/group-book.ts";
import { fakeClock, instantClock } from "../testing/fake-clock.ts";
import { GroupTalk, type TalkingGroup } from "./group-talk.ts";

const group: TalkingGroup = {
  id: "team",
  chat: "chat-1",
  trigger: "@Keel",
  always: false,
  hardLimitMs: 3_600_000,
};
let folder = "";
let books = 0;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keel-groups-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const freshBook = (): SqliteGroupBook => new SqliteGroupBook(path.join(folder, `book-${++books}.sqlite`));

class Crash extends Error {}

/** What ends a life: the step of this number fails, before or after what it does, and every later one with it. */
class Life {
  steps = 0;
  isOver = false;
  readonly #at: number;
  readonly #when: "before" | "after";

  constructor(at = Number.POSITIVE_INFINITY, when: "before" | "after" = "before") {
    this.#at = at;
    this.#when = when;
  }

  async step<T>(act: () => T | Promise<T>): Promise<T> {
    if (this.isOver) throw new Crash();
    const isLast = ++this.steps === this.#at;
    if (isLast && this.#when === "before") this.isOver = true;
    if (this.isOver) throw new Crash();
    const done = await act();
    if (isLast) this.isOver = true;
    if (this.isOver) throw new Crash();
    return done;
  }
}

function mortal<T extends object>(target: T, life: Life, names: readonly string[]): T {
  return new Proxy(target, {
    get(on, name) {
      const value = Reflect.get(on, name, on);
      if (typeof value !== "function") return value;
      const call = (...words: unknown[]): unknown => Reflect.apply(value, on, words);
      return names.includes(String(name)) ? (...words: unknown[]) => life.step(() => call(...words)) : call;
    },
  });
}

/** The log of an agent: what an input led to is decided once, whoever asks again. */
class Agent implements GroupAgent {
  readonly inputs = new Map<string, string>();
  readonly #answer: (text: string, input: string) => readonly AgentSays[];
  life = new Life();

  constructor(answer: (text: string, input: string) => readonly AgentSays[]) {
    this.#answer = answer;
  }

  async *say({ id, text }: { id: string; text: string }, _signal: AbortSignal): AsyncIterable<AgentSays> {
    await this.life.step(() => this.inputs.set(id, this.inputs.get(id) ?? text));
    for (const said of this.#answer(this.inputs.get(id) ?? "", id)) {
      await this.life.step(() => undefined);
      yield said;
    }
  }
}

class Chat implements ChatChannel {
  readonly limit = 64;
  readonly heard: string[] = [];
  outcomes: SendOutcome[] = [];

  async send(_chat: string, text: string): Promise<SendOutcome> {
    const outcome = this.outcomes.shift() ?? { kind: "sent" };
    if (outcome.kind === "sent") this.heard.push(text);
    return outcome;
  }
}

const says = (text: string | null, at = 0): AgentSays => ({ kind: "result", at, text });
const done: AgentSays = { kind: "end", how: "done", why: "completed" };
const failed: AgentSays = { kind: "end", how: "failed", why: "model_error" };

type World = {
  book: GroupBook;
  chat: Chat;
  agent: Agent;
  told: number[];
  running: { most: number; now: number };
};

const worldOf = (answer: (text: string, input: string) => readonly AgentSays[]): World => ({
  book: freshBook(),
  chat: new Chat(),
  agent: new Agent(answer),
  told: [],
  running: { most: 0, now: 0 },
});

const bookSteps = ["take", "messages", "heard", "open", "batches", "settle", "queue", "unsent", "sent"];

function talkIn(world: World, life = new Life()): GroupTalk {
  world.agent.life = life;
  return new GroupTalk(group, {
    book: mortal(world.book, life, bookSteps),
    channel: mortal(world.chat, life, ["send"]),
    agent: world.agent,
    clock: instantClock(),
    ids: { random: () => 0 },
    slot: async () => () => undefined,
    tell: (what, { length }) => void (what === "group.internal" && world.told.push(Number(length))),
  });
}

const write = (book: GroupBook, id: number, text: string): Promise<boolean> =>
  book.take(group.id, { id: `m${id}`, from: "Ana", at: id, text });

async function talked(world: World, life = new Life()): Promise<void> {
  const talk = talkIn(world, life);
  await talk.look();
  await talk.settled();
  await talk.stop();
}

describe("what is said in a group", () => {
  test("is told with the next message that is meant, and only then", async () => {
    const world = worldOf(() => [says("Hello."), done]);
    await write(world.book, 1, "lunch?");
    await talked(world);
    expect(world.agent.inputs.size).toBe(0);
    await write(world.book, 2, "@keel where?");
    await talked(world);
    expect([...world.agent.inputs.values()]).toHaveLength(1);
    expect([...world.agent.inputs.values()][0]).toMatch(/lunch\?.*\n.*where\?/);
    expect(world.chat.heard).toEqual(["Hello."]);
  });

  test("is taken in once, also when the channel tells it twice", async () => {
    const world = worldOf(() => [says("Yes."), done]);
    expect(await write(world.book, 1, "@keel there?")).toBe(true);
    expect(await write(world.book, 1, "@keel there?")).toBe(false);
    await talked(world);
    await write(world.book, 1, "@keel there?");
    await talked(world);
    expect(world.chat.heard).toEqual(["Yes."]);
  });

  test("goes to the agent while it works on what was said before", async () => {
    const first = Promise.withResolvers<void>();
    const world = worldOf(() => [says("Ok."), done]);
    const heard: string[] = [];
    world.agent.say = async function* ({ id }) {
      heard.push(id);
      yield { kind: "taken" };
      if (heard.length === 1) await first.promise;
      yield says("Ok.");
      yield done;
    };
    const talk = talkIn(world);
    await write(world.book, 1, "@keel one");
    await talk.look();
    await write(world.book, 2, "@keel two");
    await talk.look();
    await expect.poll(() => heard).toEqual(["team-1-1", "team-2-1"]);
    first.resolve();
    await talk.settled();
    expect(world.chat.heard).toEqual(["Ok.", "Ok."]);
  });
});

describe("an answer", () => {
  test("goes out result by result, without what is internal, in pieces that the channel takes", async () => {
    const long = `${"word ".repeat(30).trim()}.`;
    const world = worldOf(() => [
      says(`<internal>hm</internal>${long}`),
      says(null, 1),
      says("End.", 2),
      done,
    ]);
    await write(world.book, 1, "@keel go");
    await talked(world);
    expect(world.chat.heard.slice(0, -1).join(" ")).toBe(long);
    expect(world.chat.heard.at(-1)).toBe("End.");
    expect(world.told).toEqual([2]);
  });

  test("that is only internal is not sent", async () => {
    const world = worldOf(() => [says("<internal>nothing to say</internal>"), done]);
    await write(world.book, 1, "@keel go");
    await talked(world);
    expect(world.chat.heard).toEqual([]);
  });

  test("waits for as long as the channel wants, in its order, and what no try would send does not hold the rest", async () => {
    const world = worldOf(() => [says("One."), says("Two.", 1), says("Three.", 2), done]);
    world.chat.outcomes = [
      { kind: "later", afterMs: 30_000 },
      { kind: "sent" },
      { kind: "never", why: "too odd" },
    ];
    await write(world.book, 1, "@keel go");
    await talked(world);
    expect(world.chat.heard).toEqual(["One.", "Three."]);
  });
});

describe("a run that fails", () => {
  test("is tried again with the same messages, and answered once", async () => {
    const world = worldOf((_text, input) => (input.endsWith("-3") ? [says("At last."), done] : [failed]));
    await write(world.book, 1, "@keel go");
    await talked(world);
    expect([...world.agent.inputs.keys()]).toEqual(["team-1-1", "team-1-2", "team-1-3"]);
    expect(new Set(world.agent.inputs.values()).size).toBe(1);
    expect(world.chat.heard).toEqual(["At last."]);
  });

  test("is not tried again once something of it was sent", async () => {
    const world = worldOf(() => [says("Half of it."), failed]);
    await write(world.book, 1, "@keel go");
    await talked(world);
    expect(world.agent.inputs.size).toBe(1);
    expect(world.chat.heard).toEqual(["Half of it."]);
  });

  test("again and again is told to the group after five tries, and the next message begins anew", async () => {
    const world = worldOf((text) => (text.includes("two") ? [says("Better."), done] : [failed]));
    await write(world.book, 1, "@keel one");
    await talked(world);
    expect(world.agent.inputs.size).toBe(5);
    expect(world.chat.heard).toEqual([expect.stringContaining("every try failed")]);
    await write(world.book, 2, "@keel two");
    await talked(world);
    expect(world.chat.heard.at(-1)).toBe("Better.");
  });
});

test("without a result for an hour the agent is stopped; only a real one moves that", async () => {
  const clock = fakeClock();
  const world = worldOf(() => []);
  const stopped: number[] = [];
  world.agent.say = async function* (_input, signal) {
    for (const text of ["Working.", null, null]) {
      await clock.sleep(2_400_000, signal);
      if (signal.aborted) break;
      yield says(text);
    }
    stopped.push(clock.now());
    yield failed;
  };
  const begin = clock.now();
  const talk = new GroupTalk(group, {
    book: world.book,
    channel: world.chat,
    agent: world.agent,
    clock,
    ids: { random: () => 0 },
    slot: async () => () => undefined,
  });
  await write(world.book, 1, "@keel go");
  await talk.look();
  for (let minute = 0; minute < 150 && stopped.length === 0; minute++) await clock.advance(60_000);
  expect((stopped[0] ?? 0) - begin).toBe(2_400_000 + 3_600_000);
  await talk.stop();
});

test("a crash at any step: every message that is meant is answered once, and what it says once, but for what was on its way", async () => {
  const answer = (text: string, input: string): readonly AgentSays[] => {
    if (text.includes("fails") && !input.endsWith("-2")) return [failed];
    return [says(`First of ${input}. <internal>${input}</internal>`), says(`Second of ${input}.`, 1), done];
  };
  const isDone = (text: string, input: string): boolean => answer(text, input).includes(done);
  const lives = async (at: number, when: "before" | "after"): Promise<{ world: World; steps: number }> => {
    const world = worldOf(answer);
    await write(world.book, 1, "just words");
    await write(world.book, 2, "@keel one");
    const life = new Life(at, when);
    await talked(world, life);
    await write(world.book, 3, "@keel this fails");
    await talked(world, life);
    await talked(world);
    return { world, steps: life.steps };
  };
  const { steps } = await lives(Number.POSITIVE_INFINITY, "before");
  expect(steps).toBeGreaterThan(30);
  const stride = Math.max(1, Math.floor((2 * steps) / countOf("group-crashes")));
  for (let place = 2; place < 2 * steps + 2; place += stride) {
    const [at, when] = [Math.floor(place / 2), place % 2 === 0 ? "before" : "after"] as const;
    const { world } = await lives(at, when);
    const hint = `step ${at} ${when}`;
    const worked = [...world.agent.inputs].filter(([input, text]) => isDone(text, input));
    for (const words of ["just words", "@keel one", "this fails"])
      expect(
        worked.filter(([, text]) => text.includes(words)),
        hint,
      ).toHaveLength(1);
    const expected = worked.flatMap(([input]) => [`First of ${input}.`, `Second of ${input}.`]);
    expect([...new Set(world.chat.heard)], hint).toEqual(expected);
    // One that was sent and not marked: nobody but the channel could know.
    expect(world.chat.heard.length, hint).toBeLessThanOrEqual(expected.length + 1);
    expect(await world.book.batches(group.id), hint).toEqual([]);
  }
});

test("what a restart finds open is told to the agent in its order, however long each takes to begin", async () => {
  verifies("S2.57");
  const world = worldOf(() => [says("Ok."), done]);
  for (const [at, text] of ["@keel one", "@keel two", "@keel three"].entries()) {
    await write(world.book, at + 1, text);
    await world.book.open(group.id, { input: `team-${at + 1}-1`, from: at, to: at + 1, tries: 1 });
  }
  const begun: string[] = [];
  let calls = 0;
  world.agent.say = async function* ({ id }) {
    for (let steps = 10 - 3 * calls++; steps > 0; steps--) await Promise.resolve();
    begun.push(id);
    yield { kind: "taken" };
    yield says("Ok.");
    yield done;
  };
  await talked(world);
  expect(begun).toEqual(["team-1-1", "team-2-1", "team-3-1"]);
});
