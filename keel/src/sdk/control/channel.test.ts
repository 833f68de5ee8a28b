import { describe, expect, test } from "vitest";
import { fault } from "../../kernel/fault.ts";
import { Channel, type ControlAnswerer, ControlError, unsupported } from "./channel.ts";
import type { ControlFrame } from "./frames.ts";

function channel(answer: ControlAnswerer = async () => ({})): { channel: Channel; sent: ControlFrame[] } {
  const sent: ControlFrame[] = [];
  let ids = 0;
  const made = new Channel({
    send: (frame) => sent.push(frame),
    answer,
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
  });
  return { channel: made, sent };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("requests that are sent", () => {
  test("answers may come in any order, and each reaches its own", async () => {
    const { channel: wire, sent } = channel();
    const [first, second] = [wire.request({ subtype: "a" }), wire.request({ subtype: "b" })];
    wire.take({ kind: "response", response: { subtype: "success", request_id: "id-2", response: 2 } });
    wire.take({
      kind: "response",
      response: { subtype: "error", request_id: "id-1", error: "no", error_code: "bad" },
    });
    expect(await second).toBe(2);
    await expect(first).rejects.toMatchObject({ message: "no", code: "bad" });
    expect(sent).toMatchObject([{ request: { subtype: "a" } }, { request: { subtype: "b" } }]);
  });

  test("a signal takes a request back, and a late answer changes nothing", async () => {
    const { channel: wire, sent } = channel();
    const stop = new AbortController();
    const asked = wire.request({ subtype: "a" }, stop.signal);
    stop.abort();
    await expect(asked).rejects.toBeInstanceOf(ControlError);
    wire.take({ kind: "response", response: { subtype: "success", request_id: "id-1" } });
    expect(sent.at(-1)).toEqual({ type: "control_cancel_request", request_id: "id-1" });
    await expect(wire.request({ subtype: "b" }, stop.signal)).rejects.toThrow("cancelled");
    expect(sent).toHaveLength(2);
  });

  test("the end of the wire settles what is open and what comes later", async () => {
    const { channel: wire } = channel();
    const open = wire.request({ subtype: "a" });
    wire.end("Stream closed");
    await expect(open).rejects.toThrow("Stream closed");
    await expect(wire.request({ subtype: "b" })).rejects.toThrow("Stream closed");
  });

  test("no more are open than can be meant", async () => {
    const { channel: wire } = channel();
    const open = Array.from({ length: 1_000 }, () => wire.request({ subtype: "a" }));
    await expect(wire.request({ subtype: "a" })).rejects.toThrow("Too many");
    wire.end("over");
    await Promise.allSettled(open);
  });
});

describe("requests that arrive", () => {
  test("each is answered once: with what it asked for, with nothing, or with why not", async () => {
    const { channel: wire, sent } = channel(async ({ subtype }) => {
      if (subtype === "none") return undefined;
      if (subtype === "fault") throw fault("checkpoints_off");
      if (subtype === "thrown") throw new Error("it broke");
      if (subtype === "unknown") throw unsupported(subtype);
      return { value: 1 };
    });
    for (const subtype of ["some", "none", "fault", "thrown", "unknown"])
      wire.take({ kind: "request", id: subtype, request: { subtype } });
    await settled();
    expect(sent.map((frame) => frame.type === "control_response" && frame.response)).toEqual([
      { subtype: "success", request_id: "some", response: { value: 1 } },
      { subtype: "success", request_id: "none" },
      expect.objectContaining({ subtype: "error", request_id: "fault", error_code: "checkpoints_off" }),
      { subtype: "error", request_id: "thrown", error: "it broke" },
      {
        subtype: "error",
        request_id: "unknown",
        error: "Unsupported control request subtype: unknown",
        error_code: "unsupported_request",
      },
    ]);
  });

  test("an id that is open is refused, and may be used again afterwards", async () => {
    const gate = Promise.withResolvers<number>();
    const { channel: wire, sent } = channel(() => gate.promise);
    wire.take({ kind: "request", id: "x", request: { subtype: "a" } });
    wire.take({ kind: "request", id: "x", request: { subtype: "b" } });
    expect(sent).toMatchObject([{ response: { subtype: "error", request_id: "x" } }]);
    gate.resolve(1);
    await settled();
    wire.take({ kind: "request", id: "x", request: { subtype: "c" } });
    await settled();
    expect(sent.slice(1)).toMatchObject([
      { response: { subtype: "success", response: 1 } },
      { response: { subtype: "success", response: 1 } },
    ]);
  });

  test("who takes a request back is told so once, and the callback hears of it", async () => {
    const heard: string[] = [];
    const { channel: wire, sent } = channel(
      (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            heard.push("aborted");
            resolve({});
          });
        }),
    );
    wire.take({ kind: "request", id: "x", request: { subtype: "a" } });
    wire.take({ kind: "cancel", id: "x" });
    wire.take({ kind: "cancel", id: "nobody asked" });
    await settled();
    expect(heard).toEqual(["aborted"]);
    expect(sent).toMatchObject([
      { response: { subtype: "error", request_id: "x", error: "The request was cancelled." } },
    ]);
  });

  test("what was asked before the end of the input is still answered; after the other side is gone it is not", async () => {
    const gate = Promise.withResolvers<number>();
    const ended = channel(() => gate.promise);
    const stopped = channel(() => gate.promise);
    ended.channel.take({ kind: "request", id: "x", request: { subtype: "a" } });
    stopped.channel.take({ kind: "request", id: "x", request: { subtype: "a" } });
    ended.channel.end("Stream closed");
    stopped.channel.stop("gone");
    gate.resolve(1);
    await settled();
    expect(ended.sent).toHaveLength(1);
    expect(stopped.sent).toEqual([]);
  });
});
