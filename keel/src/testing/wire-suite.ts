/**
 * What every transport must do that carries whole messages both ways, as cases for any test runner:
 *
 *     for (const { name, run } of wireSuite({ open })) test(name, run);
 *
 * `open` gives both ends of a wire that is open. Messages are JSON texts of one line.
 */
import assert from "node:assert/strict";
import type { MessageWire } from "../transport/message-wire.ts";
import { aMoment, casesOf, type KitCase, soon, until } from "./kit-case.ts";

export type WireUnderTest = {
  readonly near: MessageWire;
  readonly far: MessageWire;
  /** Whatever is left of it. */
  close(): Promise<void>;
};

export const wireSuite = ({ open }: { open(): Promise<WireUnderTest> }): KitCase[] =>
  casesOf(cases, open, (wire) => wire.close());

const message = (number: number): string =>
  JSON.stringify({ number, words: `“ä” 🌍 \u2028 \\ "quoted" ${"x".repeat(number * 7)}`, list: [null, {}] });
const messages = (count: number): string[] => Array.from({ length: count }, (_, number) => message(number));

function heardBy(wire: MessageWire): string[] {
  const heard: string[] = [];
  wire.onMessage((each) => heard.push(each));
  return heard;
}

const cases: Readonly<Record<string, (wire: WireUnderTest) => Promise<void>>> = {
  "carries messages whole and in order, both ways at once": async ({ near, far }) => {
    const [atNear, atFar] = [heardBy(near), heardBy(far)];
    for (const each of messages(200)) {
      near.send(each);
      far.send(each);
    }
    await until("200 messages at each end", () => atNear.length >= 200 && atFar.length >= 200);
    assert.deepEqual(atNear, messages(200));
    assert.deepEqual(atFar, messages(200));
  },

  "carries a megabyte as one message": async ({ near, far }) => {
    const [atNear, atFar] = [heardBy(near), heardBy(far)];
    const large = JSON.stringify("ü".repeat(500_000));
    near.send(large);
    far.send(large);
    await until("a megabyte at each end", () => atNear.length > 0 && atFar.length > 0);
    assert.ok(atNear[0] === large && atFar[0] === large, "it is another one there");
  },

  "keeps what comes before somebody listens": async ({ near, far }) => {
    heardBy(far);
    for (const each of messages(3)) far.send(each);
    await aMoment();
    const heard = heardBy(near);
    far.send(message(3));
    await until("all four", () => heard.length >= 4);
    assert.deepEqual(heard, messages(4));
  },

  "says at both ends that it is over, and why, when the near end closes it": async ({ near, far }) => {
    heardBy(near);
    heardBy(far);
    near.close();
    for (const end of [near, far]) assert.notEqual(await soon("the end", end.closed), "");
  },

  "says at the near end that it is over, and why, when the far end closes it": async ({ near, far }) => {
    heardBy(near);
    heardBy(far);
    far.close();
    assert.notEqual(await soon("the end", near.closed), "");
  },

  "brings what was sent before the far end closed it": async ({ near, far }) => {
    const heard = heardBy(near);
    heardBy(far);
    for (const each of messages(20)) far.send(each);
    far.close();
    await soon("the end", near.closed);
    assert.deepEqual(heard, messages(20));
  },

  "is closed twice, and sent on behind its end, without harm": async ({ near, far }) => {
    heardBy(near);
    const heard = heardBy(far);
    near.close();
    near.close();
    await soon("the end", near.closed);
    near.send(message(1));
    near.close();
    await aMoment();
    assert.deepEqual(heard, []);
  },
};
