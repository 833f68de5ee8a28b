// Several clients on one session, over wires that go wrong: what they do, and what must be true at the end.
import { expect } from "vitest";
import type { KeelClient } from "../../keel/src/client/connect.ts";
import type { Receipt } from "../../keel/src/protocol/command.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { type Envelope, isDurable } from "../../keel/src/protocol/event/envelope.ts";
import type { SessionHandle } from "../../keel/src/protocol/handle.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import type { Random } from "../store/random.ts";

/** By what the conversation holds: each third reply wants to write a file, which is asked about. */
export const asksNowAndThen = (_: unknown, asked: { readonly assistantTurns: number }): Reply => {
  const at = asked.assistantTurns;
  return at % 3 === 1
    ? reply(toolUse("Write", { file_path: `made-${at}.txt`, content: "made\n" }))
    : reply(`Reply ${at}: `, "a few ", "pieces ", "of text.");
};

export type Hands = {
  readonly random: Random;
  readonly session: string;
  /** Each over a link of its own. */
  readonly clients: readonly KeelClient[];
  /** The log, by a way that holds. */
  log(): Promise<readonly Durable[]>;
  /** Whether something is still to be done, by a way that holds. */
  isWorking(): Promise<boolean>;
  pause(): Promise<void>;
  /** Until it is worth while to look again. */
  rest(): Promise<void>;
  uuid(): string;
  /** How often the server is ended in order meanwhile: what it then closes is closed by it, and not answered. */
  readonly restarts?: number;
};

type Watcher = { readonly after: number; readonly heard: Envelope[]; seq: number };

const isOwn = (event: Envelope): event is Durable => isDurable(event) && !event.origin;

/** Throws what does not hold. Returns how much happened, so that a suite can see that it did. */
export async function runHands(hands: Hands): Promise<{ events: number; answered: number; late: number }> {
  const { random, clients, session, pause } = hands;
  const stop = new AbortController();
  const answers = new Map<string, Receipt[]>();
  const accepted: string[] = [];
  const titles: string[] = [];
  const watchers: Watcher[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // Heard below.
  const watching: Promise<void>[] = [];

  const answer = async (handle: SessionHandle, askId: string): Promise<void> => {
    await pause();
    const receipt = await handle.submit({ type: "answer", askId, answer: { verdict: "allow" } });
    answers.set(askId, [...(answers.get(askId) ?? []), receipt]);
  };
  const answering = new Set<Promise<void>>();
  const follow = async (handle: SessionHandle, watcher: Watcher): Promise<void> => {
    // Lets go now and then and comes back after the last event that it has: the rest must follow without a gap.
    let left = random.below(60);
    while (!stop.signal.aborted) {
      for await (const event of handle.events(watcher.seq, stop.signal)) {
        watcher.heard.push(event);
        if (isOwn(event)) watcher.seq = event.seq;
        if (event.type === "ask.opened") {
          const sent: Promise<void> = answer(handle, event.ask.id).finally(() => answering.delete(sent));
          sent.catch(failed.reject);
          answering.add(sent);
        }
        left--;
        if (left === 0) break;
      }
      await pause();
    }
  };
  for (const client of clients) {
    const watcher: Watcher = { after: 0, heard: [], seq: 0 };
    watchers.push(watcher);
    const followed = follow(client.attach(session), watcher);
    followed.catch(failed.reject);
    watching.push(followed);
  }
  const say = async (client: KeelClient, id: string, words: string): Promise<void> => {
    const content = [{ type: "text" as const, text: words }];
    const receipt = await client.attach(session).submit({ type: "input", id, content });
    if (receipt.type === "accepted") accepted.push(id);
  };
  await Promise.all(
    clients.map(async (client, index) => {
      for (let count = 0; count < 2; count++) {
        await pause();
        const id = hands.uuid();
        const other = random.pick(clients);
        // The same input by two ways at once is one input.
        await (random.below(3) === 0
          ? Promise.all([say(client, id, `${index}-${count}`), say(other, id, `${index}-${count}`)])
          : say(client, id, `${index}-${count}`));
        if (random.below(2) === 0) {
          const title = `title ${index}-${count}`;
          titles.push(title);
          await client.attach(session).submit({ type: "set", patch: { title } });
        }
      }
    }),
  );
  while (await hands.isWorking()) await Promise.race([hands.rest(), failed.promise]);
  const log = await hands.log();
  const last = log.at(-1)?.seq ?? 0;
  while (watchers.some(({ seq }) => seq < last) || answering.size > 0)
    await Promise.race([hands.rest(), failed.promise]);
  stop.abort();
  await Promise.all(watching);

  // Every durable event once and in order, at each of them, and as it stands in the log.
  const bySeq = new Map(log.map((event) => [event.seq, event]));
  for (const { after, heard } of watchers) {
    const own = heard.filter(isOwn);
    expect(own.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq).filter((seq) => seq > after));
    // Most are the same to the letter; a close look takes its time.
    for (const event of own)
      if (JSON.stringify(event) !== JSON.stringify(bySeq.get(event.seq)))
        expect(event).toEqual(bySeq.get(event.seq));
  }
  // Every accepted input once; every command at most once, and once where it was acknowledged.
  const inputs = log.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
  expect(inputs.toSorted()).toEqual([...new Set(accepted)].toSorted());
  const named = log.flatMap((event) =>
    event.type === "settings.changed" && event.patch.title !== undefined ? [event.patch.title] : [],
  );
  // A title that was set may be set again where nobody knows whether it was: it ends in the same state.
  const told = hands.restarts === undefined ? named : [...new Set(named)];
  expect(told.toSorted()).toEqual(titles.toSorted());
  // No ask is answered twice, whoever was quicker, and no call runs twice.
  const asked = log.flatMap((event) => (event.type === "ask.opened" ? [event.ask.id] : []));
  const closed = log.flatMap((event) => (event.type === "ask.closed" ? [event.askId] : []));
  expect(closed.toSorted()).toEqual(asked.toSorted());
  const receipts = [...answers.values()].flat();
  for (const [askId, given] of answers) {
    const counted = given.filter(({ type }) => type === "answered").length;
    if (hands.restarts === undefined) expect(counted, askId).toBe(1);
    else expect(counted, askId).toBeLessThanOrEqual(1);
  }
  const calls = log.flatMap((event) => (event.type === "tool.started" ? [event.callId] : []));
  expect(calls).toHaveLength(new Set(calls).size);
  return {
    events: log.length,
    answered: receipts.filter(({ type }) => type === "answered").length,
    late: receipts.filter(({ type }) => type === "late").length,
  };
}
