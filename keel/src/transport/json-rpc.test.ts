import fc from "fast-check";
import { expect, test } from "vitest";
import { methodNotFound, type RpcHandler, RpcPeer, type RpcReply } from "./json-rpc.ts";

type Message = Record<string, unknown>;

/** A peer whose other end is this test: what it sends is collected. */
function peerOf(handler: Partial<RpcHandler> = {}) {
  const sent: unknown[] = [];
  const peer = new RpcPeer((message) => sent.push(JSON.parse(message)), {
    request: () => ({ result: {} }),
    notice: () => undefined,
    ...handler,
  });
  const settled = async (): Promise<unknown[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return sent;
  };
  return { peer, sent, settled, hear: (message: unknown) => peer.hear(JSON.stringify(message)) };
}

const request = (id: unknown, method = "any"): Message => ({ jsonrpc: "2.0", id, method });

test("a request is answered once with its id, be it a number, a text or null", async () => {
  const { hear, settled } = peerOf({ request: ({ method }) => ({ result: { method } }) });
  for (const id of [0, 7, "x", null]) hear(request(id, "m"));
  expect(await settled()).toEqual(
    [0, 7, "x", null].map((id) => ({ jsonrpc: "2.0", id, result: { method: "m" } })),
  );
});

test("what must come after an answer comes after it, and what a handler throws is an error without its words", async () => {
  const { peer, hear, settled } = peerOf({
    request: ({ method }): RpcReply => {
      if (method === "bad") throw new Error("a secret path");
      return { result: 1, after: () => peer.notify("told", {}) };
    },
  });
  hear(request(1));
  await settled();
  hear(request(2, "bad"));
  expect(await settled()).toEqual([
    { jsonrpc: "2.0", id: 1, result: 1 },
    { jsonrpc: "2.0", method: "told", params: {} },
    { jsonrpc: "2.0", id: 2, error: { code: -32603, message: "Internal error" } },
  ]);
});

test("messages reach their handlers in the order in which they came, though answers take their time", () => {
  const heard: string[] = [];
  const { hear } = peerOf({
    request: ({ method }) => {
      heard.push(method);
      return new Promise(() => undefined);
    },
    notice: (method) => void heard.push(method),
  });
  hear(request(1, "prompt"));
  hear({ jsonrpc: "2.0", method: "cancel" });
  hear(request(2, "prompt again"));
  expect(heard).toEqual(["prompt", "cancel", "prompt again"]);
});

test("what is no message is said so, and a notification is not answered", async () => {
  const { peer, hear, settled } = peerOf({ request: ({ method }) => methodNotFound(method) });
  peer.hear("{no JSON");
  peer.hear("");
  for (const nothing of [1, "x", null, {}, { id: 1 }, { foo: "bar" }, { method: "m", id: {} }]) hear(nothing);
  hear({ jsonrpc: "2.0", method: "unknown" });
  hear(request(3, "unknown"));
  const codes = (await settled()).map((message) => {
    const { id, error } = message as { id: unknown; error: { code: number } };
    return [id, error.code];
  });
  expect(codes).toEqual([[null, -32700], ...Array.from({ length: 7 }, () => [null, -32600]), [3, -32601]]);
});

test("a batch is answered as one, without its notifications; one of notifications not at all; an empty one is a mistake", async () => {
  const { hear, settled } = peerOf({ request: async ({ method }) => ({ result: method }) });
  hear([request(1, "a"), { jsonrpc: "2.0", method: "n" }, 17, request("two", "b")]);
  hear([{ jsonrpc: "2.0", method: "n" }]);
  hear([]);
  const [empty, batch, ...rest] = await settled();
  expect(empty).toMatchObject({ id: null, error: { code: -32600 } });
  expect(batch).toHaveLength(3);
  expect(batch).toEqual(
    expect.arrayContaining([
      { jsonrpc: "2.0", id: 1, result: "a" },
      { jsonrpc: "2.0", id: "two", result: "b" },
      expect.objectContaining({ id: null }),
    ]),
  );
  expect(rest).toEqual([]);
});

test("a request that is taken back is told to the other side, and settles; a late answer is nobody's", async () => {
  const { peer, hear, sent } = peerOf();
  const stop = new AbortController();
  const asked = peer.request("ask", { a: 1 }, stop.signal);
  stop.abort();
  expect(await asked).toMatchObject({ ok: false, error: { code: -32800 } });
  expect(sent).toEqual([
    { jsonrpc: "2.0", id: 0, method: "ask", params: { a: 1 } },
    { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 0 } },
  ]);
  hear({ jsonrpc: "2.0", id: 0, result: "late" });
});

test("the other side may take its request back: the one who handles it hears of that", async () => {
  const stopped: boolean[] = [];
  const { hear, settled } = peerOf({
    request: ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          stopped.push(true);
          resolve({ error: { code: -32800, message: "stopped" } });
        });
      }),
  });
  hear(request(5));
  hear({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 5 } });
  expect(await settled()).toMatchObject([{ id: 5, error: { code: -32800 } }]);
  expect(stopped).toEqual([true]);
});

test("answers find whoever asked, errors with their code; a side that is gone answers everything", async () => {
  const { peer, hear } = peerOf();
  const [good, bad, never] = [peer.request("a", {}), peer.request("b", {}), peer.request("c", {})];
  hear({ jsonrpc: "2.0", id: 1, error: { code: -32002, message: "none", data: { x: 1 } } });
  hear({ jsonrpc: "2.0", id: 0, result: { fine: true } });
  expect(await good).toEqual({ ok: true, result: { fine: true } });
  expect(await bad).toEqual({ ok: false, error: { code: -32002, message: "none", data: { x: 1 } } });
  peer.close();
  expect(await never).toMatchObject({ ok: false, isClosed: true });
  expect(await peer.request("d", {})).toMatchObject({ ok: false, isClosed: true });
});

test("whatever comes, nothing is thrown, and each request has exactly one answer", async () => {
  const piece = fc.oneof(
    fc.json(),
    fc
      .record({ jsonrpc: fc.constant("2.0"), id: fc.integer(), method: fc.string() })
      .map((one) => JSON.stringify(one)),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (lines) => {
      const { peer, settled } = peerOf();
      for (const line of lines) peer.hear(line);
      const asked = lines.filter((line) => /^\{"jsonrpc":"2\.0","id":-?\d+,"method":/.test(line));
      const answers = (await settled()).filter(
        (message) => typeof (message as Message | null)?.["id"] === "number",
      );
      expect(answers.length).toBeGreaterThanOrEqual(asked.length);
    }),
    { numRuns: 300 },
  );
});
