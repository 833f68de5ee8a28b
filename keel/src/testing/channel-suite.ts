/**
 * What every channel of a chat service must do, as cases for any test runner:
 *
 *     for (const { name, run } of channelSuite({ open })) test(name, run);
 *
 * `open` gives a channel, and the people at the other end of its service.
 */
import assert from "node:assert/strict";
import type { ChannelEars, ChannelMessage, LiveChannel } from "../ports/groups.ts";
import { aMoment, casesOf, type KitCase, soon, until } from "./kit-case.ts";

export type ChannelUnderTest = {
  readonly channel: LiveChannel;
  /** A chat in which somebody is. */
  readonly chat: string;
  /** What is to be there before somebody listens, and while they do; called once, behind `listen`. */
  ready?(): Promise<void>;
  /** Somebody says something in the chat. */
  say(text: string): void | Promise<void>;
  /** What people have read there, in order. */
  read(): readonly string[];
  /** Whether the service tells again what was not kept. */
  readonly again: "told" | "lost";
  close(): Promise<void>;
};

export const channelSuite = ({ open }: { open(): Promise<ChannelUnderTest> }): KitCase[] =>
  casesOf(cases, open, (subject) => subject.close());

const cases: Readonly<Record<string, (subject: ChannelUnderTest) => Promise<void>>> = {
  "gives people what is sent, whole and in order": async (subject) => {
    await using _ = await listening(subject);
    const texts = ["Hello.", "“ä” 🌍 <b>&amp;</b> *not* _marked_", "the last"];
    for (const text of texts) await send(subject, text);
    await until("three texts", () => bare(subject.read()).length >= bare(texts).length);
    assert.equal(bare(subject.read()), bare(texts));
  },

  "takes a text as long as it says": async (subject) => {
    await using _ = await listening(subject);
    const text = "many words ".repeat(subject.channel.limit).slice(0, subject.channel.limit);
    await send(subject, text);
    await until("a long text", () => bare(subject.read()).length >= bare([text]).length);
    assert.equal(bare(subject.read()), bare([text]));
  },

  "hears what people say, in order, and where": async (subject) => {
    await using ears = await listening(subject);
    const texts = ["one", "“ä” 🌍 two", "three"];
    for (const text of texts) await subject.say(text);
    await until("three messages", () => ears.heard.length >= 3);
    assert.deepEqual(
      ears.heard.map(({ text }) => text),
      texts,
    );
    for (const { chat, chatName, from, at } of ears.heard) {
      assert.equal(chat, subject.chat);
      assert.ok(chatName !== "" && from !== "");
      assert.ok(Number.isFinite(at) && at > 1_000_000_000_000, "its time is not in milliseconds");
    }
  },

  "gives each message a number of its own": async (subject) => {
    await using ears = await listening(subject);
    for (const text of ["same", "same", "same"]) await subject.say(text);
    await until("three messages", () => ears.heard.length >= 3);
    assert.equal(new Set(ears.heard.map(({ id }) => id)).size, 3);
  },

  "does not hear itself": async (subject) => {
    await using ears = await listening(subject);
    await send(subject, "from me");
    await subject.say("from somebody");
    await until("one message", () => ears.heard.length > 0);
    await aMoment();
    assert.deepEqual(
      ears.heard.map(({ text }) => text),
      ["from somebody"],
    );
  },

  "tells a message again until it is kept, under the same number": async (subject) => {
    let refusals = 0;
    const tried: string[] = [];
    await using ears = await listening(subject, async ({ id }) => {
      tried.push(id);
      if (subject.again === "told" && refusals++ < 2) assert.fail("there is no room");
    });
    await subject.say("keep me");
    await until("a kept message", () => ears.heard.length > 0);
    assert.deepEqual(
      ears.heard.map(({ text }) => text),
      ["keep me"],
    );
    assert.equal(new Set(tried).size, 1);
  },

  "stops listening when it is told to, and hears nothing then": async (subject) => {
    const ears = await listening(subject);
    await subject.say("before");
    await until("one message", () => ears.heard.length > 0);
    await ears[Symbol.asyncDispose]();
    await Promise.resolve(subject.say("after")).catch(() => undefined);
    await aMoment();
    assert.deepEqual(
      ears.heard.map(({ text }) => text),
      ["before"],
    );
  },
};

type ListeningEars = AsyncDisposable & { readonly heard: readonly ChannelMessage[] };

/** `keep` throws where a message cannot be kept. */
async function listening(
  { channel, chat, ready }: ChannelUnderTest,
  keep: (message: ChannelMessage) => Promise<void> = async () => undefined,
): Promise<ListeningEars> {
  const stop = new AbortController();
  const heard: ChannelMessage[] = [];
  let kept: string | undefined;
  const ears: ChannelEars = {
    async heard(message) {
      await keep(message);
      if (!heard.some(({ id }) => id === message.id)) heard.push(message);
    },
    mark: async () => kept,
    keepMark: async (mark) => {
      kept = mark;
    },
  };
  channel.attend?.(chat);
  const over = channel.listen(ears, stop.signal);
  // What it throws is thrown where it is waited for.
  over.catch(() => undefined);
  await ready?.();
  return {
    heard,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await soon("the end of listening", over);
    },
  };
}

/** A pause is kept, as the channel wants it. */
async function send({ channel, chat }: ChannelUnderTest, text: string): Promise<void> {
  const { kind } = await soon("a sent text", channel.send(chat, text));
  assert.equal(kind, "sent");
}

/** How a service breaks lines is its own. */
const bare = (texts: readonly string[]): string => texts.join("").replace(/\s+/g, "");
