import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type ReadyReply, ScriptAnswers } from "./answers.ts";
import { sendStream } from "./exchange.ts";
import { viewOf } from "./read-request.ts";
import { replyWith } from "./reply.ts";
import type { Reply } from "./script.ts";
import { anthropicWire } from "./wires/anthropic.ts";

const ready = (given: Reply): Promise<ReadyReply> =>
  new ScriptAnswers({ replies: [given] }).next({}, viewOf({ model: "m", messages: [] }));

/** Counts its writes; a slow one keeps what it was given until it is told to go on. */
function sink(pace: "quick" | "stuck") {
  const written: string[] = [];
  const stream = new Writable({
    highWaterMark: 1024,
    decodeStrings: false,
    write(chunk, _, done) {
      written.push(String(chunk));
      if (pace === "quick") done();
    },
  });
  return { stream, written };
}

/** How far the script was read: the wire with a counter. */
function countingWire() {
  let records = 0;
  const wire = {
    ...anthropicWire,
    *records(reply: ReadyReply) {
      for (const record of anthropicWire.records(reply)) {
        records += 1;
        yield record;
      }
    },
  };
  return { wire, records: () => records };
}

const fifty = 50_000;
const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

describe("a stream", () => {
  test("of 50,000 deltas goes out in few writes and completely", async () => {
    const { stream, written } = sink("quick");
    const reply = await ready(replyWith({ chunkChars: 1 }, "x".repeat(fifty)));
    expect(await sendStream(stream, anthropicWire, reply, new AbortController().signal)).toBe("complete");
    expect(written.join("").split("text_delta")).toHaveLength(fifty + 1);
    expect(written.length).toBeLessThan(300);
  });

  test("waits for a reader that does not read, instead of filling memory", async () => {
    const { stream, written } = sink("stuck");
    const { wire, records } = countingWire();
    const stop = new AbortController();
    const sending = sendStream(
      stream,
      wire,
      await ready(replyWith({ chunkChars: 1 }, "x".repeat(fifty))),
      stop.signal,
    );
    await pause();
    expect(written).toHaveLength(1);
    expect(records()).toBeLessThan(1000);
    stop.abort();
    expect(await sending).toBe("gone");
  });

  test("at a pace has one write per event", async () => {
    const { stream, written } = sink("quick");
    const reply = await ready(replyWith({ chunkChars: 1, betweenMs: 1 }, "abc"));
    await sendStream(stream, anthropicWire, reply, new AbortController().signal);
    expect(written.map((record) => /event: (\w+)/.exec(record)?.[1])).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("ends soon after its signal, also while it waits between two events", async () => {
    const { stream } = sink("quick");
    const stop = new AbortController();
    const reply = await ready(replyWith({ betweenMs: 600_000 }, "abc"));
    const sending = sendStream(stream, anthropicWire, reply, stop.signal);
    await pause();
    stop.abort();
    expect(await sending).toBe("gone");
  });

  test("throws what is not the reader's leaving", async () => {
    const failing = {
      ...anthropicWire,
      records(): never {
        throw new Error("the wire is at fault");
      },
    };
    const sending = sendStream(
      sink("quick").stream,
      failing,
      await ready(replyWith({}, "x")),
      new AbortController().signal,
    );
    await expect(sending).rejects.toThrow("the wire is at fault");
  });
});
