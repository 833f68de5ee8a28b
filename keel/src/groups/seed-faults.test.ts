// Faults of seed 002's change list in what is said in a group, each by its name there, so that none comes back.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { AgentInput, AgentSays, ChatChannel, GroupAgent, SendOutcome } from "../ports/groups.ts";
import { SqliteGroupBook } from "../store/groups/group-book.ts";
import { fakeClock, instantClock } from "../testing/fake-clock.ts";
import { GroupTalk } from "./group-talk.ts";

const group = { id: "team", chat: "chat-1", trigger: "@keel", always: false, hardLimitMs: 3_600_000 };
const done: AgentSays = { kind: "end", how: "done", why: "completed" };
const failed: AgentSays = { kind: "end", how: "failed", why: "model_error" };
const says = (text: string | null, at = 0): AgentSays => ({ kind: "result", at, text });

let folder = "";
let book: SqliteGroupBook;
let number = 0;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "keel-faults-"));
  book = new SqliteGroupBook(path.join(folder, "book.sqlite"));
  number = 0;
});
afterEach(async () => {
  await book.close();
  await rm(folder, { recursive: true, force: true });
});

const write = (text: string): Promise<boolean> =>
  book.take(group.id, { id: `m${++number}`, from: "Ana", at: number, text });

/** Every input, with a way to say what comes of it. */
class SlowAgent implements GroupAgent {
  readonly told: string[] = [];
  readonly #answers: PromiseWithResolvers<AgentSays[]>[] = [];

  async *say({ text }: AgentInput): AsyncIterable<AgentSays> {
    const answer = Promise.withResolvers<AgentSays[]>();
    this.#answers.push(answer);
    this.told.push(text.replace(/<[^>]*>/g, ""));
    yield { kind: "taken" };
    yield* await answer.promise;
  }

  answer(at: number, ...all: AgentSays[]): void {
    this.#answers[at]?.resolve(all);
  }
}

class Chat implements ChatChannel {
  readonly limit = 4_096;
  readonly heard: string[] = [];
  /** What comes of each try to send, by its text. */
  outcome: (text: string) => Promise<SendOutcome> = async () => ({ kind: "sent" });

  async send(_: string, text: string): Promise<SendOutcome> {
    const outcome = await this.outcome(text);
    if (outcome.kind === "sent") this.heard.push(text);
    return outcome;
  }
}

function talk(agent: GroupAgent, chat: Chat, clock = instantClock()): GroupTalk {
  const slot = async () => () => undefined;
  return new GroupTalk(group, { book, channel: chat, agent, clock, ids: { random: () => 0 }, slot });
}

test("duplicate messages, seed 002: what was told first is not told again with what comes while the agent works", async () => {
  verifies("S2.57");
  const [agent, chat] = [new SlowAgent(), new Chat()];
  const talking = talk(agent, chat);
  await write("@keel one");
  await talking.look();
  await expect.poll(() => agent.told).toEqual(["@keel one"]);
  await write("@keel two");
  await talking.look();
  await expect.poll(() => agent.told).toEqual(["@keel one", "@keel two"]);
  agent.answer(0, says("1"), done);
  agent.answer(1, says("2"), done);
  await talking.settled();
  expect(chat.heard).toEqual(["1", "2"]);
});

test("timestamp rollback, seed 002: an older batch that ends later does not set the cursor back", async () => {
  verifies("S2.57");
  const [agent, chat] = [new SlowAgent(), new Chat()];
  const talking = talk(agent, chat);
  for (const text of ["@keel one", "@keel two"]) {
    await write(text);
    await talking.look();
    await expect.poll(() => agent.told.at(-1)).toBe(text);
  }
  agent.answer(1, says("2"), done);
  agent.answer(0, says("1"), done);
  await talking.settled();
  expect(await book.heard(group.id)).toBe(2);
  await talking.look();
  await talking.settled();
  expect(agent.told).toHaveLength(2);
});

test("cursor rollback, seed 002: messages of a run that failed are told again, with nothing lost and nothing twice", async () => {
  verifies("S2.57");
  const [agent, chat] = [new SlowAgent(), new Chat()];
  const talking = talk(agent, chat);
  await write("some context");
  await write("@keel one");
  await talking.look();
  await expect.poll(() => agent.told).toHaveLength(1);
  // Meanwhile more is said: the second try is of the same messages all the same.
  await write("@keel two");
  await talking.look();
  await expect.poll(() => agent.told).toHaveLength(2);
  agent.answer(0, failed);
  await expect.poll(() => agent.told).toHaveLength(3);
  expect(agent.told).toEqual(["some context\n@keel one", "@keel two", "some context\n@keel one"]);
  agent.answer(1, says("2"), done);
  agent.answer(2, says("1"), done);
  await talking.settled();
  expect(chat.heard.toSorted()).toEqual(["1", "2"]);
});

test("trigger bypass, seed 002: what nobody meant for it is not streamed to an agent at work, and comes with what is", async () => {
  verifies("S2.59");
  const [agent, chat] = [new SlowAgent(), new Chat()];
  const talking = talk(agent, chat);
  await write("@keel one");
  await talking.look();
  await expect.poll(() => agent.told).toHaveLength(1);
  for (const text of ["between us", "and this"]) await write(text);
  await talking.look();
  agent.answer(0, says("1"), done);
  await talking.settled();
  expect(agent.told).toEqual(["@keel one"]);
  await write("@keel two");
  await talking.look();
  await expect.poll(() => agent.told.at(-1)).toBe("between us\nand this\n@keel two");
  agent.answer(1, done);
  await talking.settled();
});

test("flush twice, seed 002: however often it is looked, each answer goes out once, in its order", async () => {
  verifies("S2.59");
  const chat = new Chat();
  const gate = Promise.withResolvers<void>();
  const tried: string[] = [];
  chat.outcome = async (text) => {
    tried.push(text);
    await gate.promise;
    return { kind: "sent" };
  };
  for (const [at, text] of ["one", "two", "three"].entries())
    await book.queue(group.id, { id: `o${at}`, text }, at);
  const talking = talk(new SlowAgent(), chat);
  await Promise.all(Array.from({ length: 20 }, () => talking.look()));
  await expect.poll(() => tried).toEqual(["one"]);
  gate.resolve();
  await talking.settled();
  expect(tried).toEqual(["one", "two", "three"]);
});

test("flush loses what was not tried, seed 002: what a failure keeps from being sent stays, and goes later", async () => {
  verifies("S2.59");
  const chat = new Chat();
  let failures = 2;
  chat.outcome = async (text) => {
    if (text === "two" && failures-- > 0) throw new Error("the line is cut");
    return { kind: "sent" };
  };
  for (const [at, text] of ["one", "two", "three"].entries())
    await book.queue(group.id, { id: `o${at}`, text }, at);
  const talking = talk(new SlowAgent(), chat);
  await talking.look();
  await talking.settled();
  expect(chat.heard).toEqual(["one", "two", "three"]);
  expect(await book.unsent(group.id)).toEqual([]);
});

test("timeout disabled, seed 002: what is no result moves no limit, so that an agent that hangs is stopped", async () => {
  verifies("S2.52");
  const clock = fakeClock();
  let stoppedAt = 0;
  const noisy: GroupAgent = {
    async *say(_, signal) {
      yield { kind: "taken" };
      // As when somebody writes to the standard error all the time.
      while (!signal.aborted) {
        await clock.sleep(60_000, signal);
        yield says(null);
      }
      stoppedAt = clock.now();
      yield failed;
    },
  };
  const begin = clock.now();
  const talking = talk(noisy, new Chat(), clock);
  await write("@keel go");
  await talking.look();
  for (let minute = 0; minute < 90 && stoppedAt === 0; minute++) await clock.advance(60_000);
  expect(stoppedAt - begin).toBe(group.hardLimitMs);
  await talking.stop();
});
