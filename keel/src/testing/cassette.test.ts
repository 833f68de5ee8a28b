import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { countOf, seed } from "../../../test/support/budget.ts";
import { serving } from "../../../test/support/plain-client.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { toFault } from "../kernel/fault.ts";
import { catalog } from "../models/catalog.ts";
import { connectModel } from "../models/connect.ts";
import { type Http, openHttp } from "../models/http.ts";
import type { ProviderId } from "../models/providers.ts";
import type { Model, ModelEvent, ModelRequest } from "../ports/model.ts";
import { openRecorder } from "./cassette-record.ts";
import { openReplay, openReplayModel } from "./cassette-replay.ts";
import { startRecordingProxy, startReplayServer } from "./cassette-server.ts";
import { countingIds } from "./counting-ids.ts";
import { faultReply } from "./fault-replies.ts";
import type { ModelServer } from "./model-server.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "./reply.ts";
import type { Script } from "./script.ts";

const key = "sk-canary-cassette-0123456789";
const http = openHttp();
const { serve, close } = serving();
afterEach(close);

/** A file in a folder that goes with the test. */
function tape(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "cassette-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, "tape.jsonl");
}

const sessions = countingIds();
const request = (words: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "test-model",
  system: ["You are a test."],
  tools: [{ name: "Read", description: "Reads.", input: { type: "object" } }],
  messages: [{ role: "user", content: [{ type: "text", text: words }] }],
  maxOutputTokens: 1_000,
  thinking: { kind: "off" },
  // Each is the first of a session of its own.
  session: sessions.uuid(),
  ...more,
});

const modelAt = (provider: ProviderId, url: string, send: Http): Model =>
  connectModel(
    {
      endpoint: {
        provider,
        baseUrl: provider === "openai" ? `${url}/v1` : url,
        credential: { kind: "key", value: key },
      },
    },
    { catalog: catalog(), http: send, now: () => 0 },
  );

/** The events, and at their end the code of the fault, if there was one. */
async function ask(model: Model, asked: ModelRequest): Promise<(ModelEvent | string)[]> {
  const events: (ModelEvent | string)[] = [];
  try {
    for await (const event of model.stream(asked, AbortSignal.timeout(5_000))) events.push(event);
  } catch (thrown) {
    events.push(toFault(thrown).code);
  }
  return events;
}

async function recorded(
  provider: ProviderId,
  script: Script,
  asked: readonly ModelRequest[],
  secrets: readonly string[] = [],
) {
  const file = tape();
  const server: ModelServer = await serve(script);
  const model = modelAt(provider, server.url, await openRecorder({ http: http.send, file, secrets }));
  const live: (ModelEvent | string)[][] = [];
  for (const one of asked) live.push(await ask(model, one));
  await server.close();
  return { file, live, text: readFileSync(file, "utf8") };
}

describe.each<ProviderId>(["anthropic", "openai"])("a cassette of the wire of %s", (provider) => {
  const script: Script = {
    replies: [reply(thinking("hm"), "I read.", toolUse("Read", { path: "ä😀" })), reply("done")],
  };
  const asked = [request("one"), request("two")];

  test("plays what was recorded, event by event, without a network", async () => {
    verifies("P29");
    const { file, live } = await recorded(provider, script, asked);
    const model = await openReplayModel({ file, provider });
    const played = [await ask(model, request("one")), await ask(model, request("two"))];
    expect(played).toEqual(live);
    expect(played[0]?.at(-1)).toMatchObject({ type: "end", stop: "tool_use" });
    model.replay.check();
    expect(model.replay.unused()).toBe(0);
  });

  test("plays over HTTP too, whatever the address", async () => {
    const { file, live } = await recorded(provider, script, asked);
    const server = await startReplayServer({ file });
    const model = modelAt(provider, server.url, http.send);
    expect([await ask(model, request("two")), await ask(model, request("one"))]).toEqual(live.toReversed());
    await server.close();
  });

  test("does not care which session asks, and cares for all else", async () => {
    const { file } = await recorded(provider, script, asked);
    const model = await openReplayModel({ file, provider });
    expect((await ask(model, request("one"))).at(-1)).toMatchObject({
      type: "end",
    });
    expect((await ask(model, request("two", { maxOutputTokens: 999 }))).at(-1)).toBe("not_recorded");
    expect((await ask(model, request("two", { system: ["You are another."] }))).at(-1)).toBe("not_recorded");
    expect(model.replay.misses).toHaveLength(2);
  });

  test("answers equal requests in their order: a failure first, and then what came of the next try", async () => {
    const { file, live } = await recorded(
      provider,
      {
        replies: [
          httpError(429, { headers: { "retry-after": "3" } }),
          faultReply("cut-sse"),
          reply("at last"),
        ],
      },
      [request("one"), request("one"), request("one")],
    );
    expect(live.map((events) => events.at(-1))).toEqual([
      "rate_limited",
      "stream_cut",
      expect.objectContaining({ type: "end" }),
    ]);
    const model = await openReplayModel({ file, provider });
    for (const events of live) expect(await ask(model, request("one"))).toEqual(events);
    expect(await ask(model, request("one"))).toEqual(["not_recorded"]);
    expect(model.replay.misses[0]).toMatch(/recorded 3 times and is asked once more/);
  });

  test("says of what is missing what was asked, what comes nearest, and where they differ", async () => {
    const { file } = await recorded(provider, script, asked);
    const replay = await openReplay({ file });
    expect(await ask(modelAt(provider, "http://nowhere.invalid", replay.send), request("three"))).toEqual([
      "not_recorded",
    ]);
    expect(replay.misses[0]).toMatch(/It is not recorded\. Asked was:\nPOST \/.*\n {2}tools Read/);
    expect(replay.misses[0]).toMatch(/user text "three"/);
    expect(replay.misses[0]).toMatch(/The nearest is exchange 1, which differs at messages\.\d.*content/);
    expect(replay.misses[0]).toMatch(/asked {5}"three"\n {2}recorded {2}"one"/);
    expect(() => replay.check()).toThrow(/three/);
    expect(replay.unused()).toBe(2);
  });

  test("is matched without what differs from run to run", async () => {
    const { file } = await recorded(provider, script, [request("read /tmp/run-1/a.txt"), request("two")]);
    const model = await openReplayModel({
      file,
      provider,
      replace: [{ find: /\/tmp\/run-\d+/g, by: "{{cwd}}" }],
      ignore: ["max_tokens"],
    });
    const again = await ask(model, request("read /tmp/run-2/a.txt", { maxOutputTokens: 5 }));
    expect(again.at(-1)).toMatchObject({ type: "end" });
  });

  test("is recorded by a proxy that passes requests on", async () => {
    const file = tape();
    const server = await serve(script, { key });
    const proxy = await startRecordingProxy({ upstream: server.url, file });
    const model = modelAt(provider, proxy.url, http.send);
    const live = [await ask(model, request("one")), await ask(model, request("two"))];
    await proxy.close();
    expect(server.requests).toHaveLength(2);
    const played = await openReplayModel({ file, provider });
    expect([await ask(played, request("one")), await ask(played, request("two"))]).toEqual(live);
    expect(readFileSync(file, "utf8")).not.toContain(key);
  });
});

describe("secrets", () => {
  /** One of each kind that people have; none may be in the file. */
  const canaries: readonly string[] = [
    "sk-ant-api03-CANARYcanaryCANARY",
    "sk-proj-CANARYcanaryCANARY",
    "sk_live_CANARYcanaryCANARY",
    "AKIACANARYCANARYCANA",
    "ghp_CANARYcanaryCANARYcanary",
    "github_pat_CANARYcanaryCANARY",
    "glpat-CANARYcanaryCANARY",
    "npm_CANARYcanaryCANARYcanary",
    "hf_CANARYcanaryCANARYcanary",
    "xoxb-CANARY-canary-CANARY",
    "AIzaCANARYcanaryCANARYcanaryCANARY",
    "org-CANARYcanaryCANARY",
    "proj_CANARYcanaryCANARY",
    "eyJhbGciOiJDQU5BUlkifQ.eyJzdWIiOiJDQU5BUlkifQ.CANARY",
    "-----BEGIN RSA PRIVATE KEY-----\nCANARY\n-----END RSA PRIVATE KEY-----",
    "https://user:CANARY@host.example/",
    "Authorization: Bearer CANARY.canary",
    "a-named-secret-of-the-house",
  ];

  test.each<ProviderId>(["anthropic", "openai"])(
    "of any kind are in no line of a cassette of %s: not from the request, the reply or an error",
    async (provider) => {
      const words = canaries.join(" and ");
      const { text, live, file } = await recorded(
        provider,
        {
          replies: [
            // In pieces of seven characters: every secret is split over several deltas.
            replyWith({ chunkChars: 7 }, thinking(words), words, toolUse("Read", { path: words })),
            httpError(400, { message: `bad key ${key} of org-CANARYcanary` }),
          ],
        },
        [request(words), request(`again ${words}`)],
        ["a-named-secret-of-the-house"],
      );
      expect(live[0]?.at(-1)).toMatchObject({ type: "end" });
      expect(text.split("\n")).toHaveLength(3);
      for (const canary of [...canaries, key, "CANARY"]) expect(text).not.toContain(canary);
      expect(text).not.toContain("a-named-secret");
      expect(text.match(/\[hidden\]/g)?.length).toBeGreaterThan(60);
      // It still plays, and the same request is still found.
      const model = await openReplayModel({ file, provider, secrets: ["a-named-secret-of-the-house"] });
      const played = await ask(model, request(words));
      expect(played.at(-1)).toMatchObject({ type: "end", stop: "tool_use" });
      expect(JSON.stringify(played)).not.toContain("CANARY");
    },
  );

  test("of headers are not kept, nor are the headers", async () => {
    const file = tape();
    const server = await serve({ replies: [reply("ok")] });
    const send = await openRecorder({ http: http.send, file });
    const headers = {
      "anthropic-version": "2023-06-01",
      cookie: "session=canary-cookie; theme=canary-theme",
      "openai-organization": "canary-organization",
      "x-api-key": key,
    };
    const body = JSON.stringify({
      model: "m",
      max_tokens: 5,
      messages: [{ role: "user", content: "canary-cookie canary-organization" }],
    });
    const response = await send(
      { method: "POST", url: `${server.url}/v1/messages?key=canary-query`, headers, body },
      AbortSignal.timeout(5_000),
    );
    for await (const _ of response.body);
    const text = readFileSync(file, "utf8");
    expect(text).toContain('"status":200');
    expect(text).not.toContain("canary");
  });

  test("that would be written after all stop the writing", async () => {
    const file = tape();
    const secret = "an-unusual-secret-in-base64";
    const encoded = Buffer.from(secret).toString("base64");
    const fake: Http = async () => ({
      status: 200,
      header: () => "application/json",
      endWithin: () => undefined,
      body: one(`{"text":"${encoded}"}`),
    });
    const send = await openRecorder({ http: fake, file, secrets: [secret] });
    const response = await send(
      { method: "GET", url: "http://x.example/models", headers: {} },
      AbortSignal.timeout(5_000),
    );
    await expect(Array.fromAsync(response.body)).rejects.toThrow(/would hold a secret/);
    expect(readFileSync(file, "utf8")).toBe("");
  });
});

describe("a file", () => {
  test("keeps a body that is no text as it is", async () => {
    const file = tape();
    const fake: Http = async () => ({
      status: 200,
      header: () => undefined,
      endWithin: () => undefined,
      body: bytes(Uint8Array.of(0xff, 0, 1)),
    });
    const send = await openRecorder({ http: fake, file });
    const ask = { method: "GET", url: "http://x.example/models", headers: {} } as const;
    await Array.fromAsync((await send(ask, AbortSignal.timeout(5_000))).body);
    const replay = await openReplay({ file });
    const played = await Array.fromAsync((await replay.send(ask, AbortSignal.timeout(5_000))).body);
    expect(Buffer.concat(played)).toEqual(Buffer.of(0xff, 0, 1));
  });

  test("does not keep what its reader left", async () => {
    const file = tape();
    const server = await serve({ replies: [replyWith({ betweenMs: 5, chunkChars: 1 }, "a long story")] });
    const model = modelAt("openai", server.url, await openRecorder({ http: http.send, file }));
    for await (const event of model.stream(request("x"), AbortSignal.timeout(5_000)))
      if (event.type === "text") break;
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test.each([
    ["is missing", undefined, /cannot be read/],
    ["is not JSON", "oops\n", /tape\.jsonl:1 is not JSON/],
    ["is something else", '{"cassette":1}\n', /tape\.jsonl:1 is no recorded exchange/],
    ["is of another version", '\n{"cassette":3}\n', /tape\.jsonl:2 is no recorded exchange/],
  ])("that %s is wrong use, and says where", async (_, content, why) => {
    const file = tape();
    if (content !== undefined) writeFileSync(file, content);
    await expect(openReplay({ file })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(why),
    });
  });

  test("is refused when a bit of it was changed, whichever it is, and says where", async () => {
    verifies("P29");
    const script: Script = {
      replies: [reply("A story with an ä and a 😀."), httpError(429)],
    };
    const { file, text } = await recorded("anthropic", script, [request("one"), request("two")]);
    expect(text.trimEnd().split("\n")).toHaveLength(2);
    const whole = readFileSync(file);
    const chance = countingIds({ seed: seed() + 9 });
    const missed: string[] = [];
    for (let flip = 0; flip < countOf("flipped-bytes"); flip++) {
      const at = Math.floor(chance.random() * whole.length);
      const bytes = Buffer.from(whole);
      bytes[at] = (whole[at] ?? 0) ^ (1 << Math.floor(chance.random() * 8));
      writeFileSync(file, bytes);
      const told = await openReplay({ file }).then(() => "", String);
      if (!/tape\.jsonl:[12] (?:is|was)/.test(told))
        missed.push(`byte ${at}: ${bytes.subarray(Math.max(0, at - 20), at + 20).toString()}: ${told}`);
    }
    expect(missed).toEqual([]);
  });

  test("of the first version, which had no sums, plays as it did", async () => {
    const { file, live, text } = await recorded("anthropic", { replies: [reply("done")] }, [request("one")]);
    writeFileSync(file, text.replace(/"cassette":2,"sum":"\w+"/, '"cassette":1'));
    const model = await openReplayModel({ file, provider: "anthropic" });
    expect([await ask(model, request("one"))]).toEqual(live);
  });

  test("gets the folder in which it is to be", async () => {
    const file = path.join(path.dirname(tape()), "cassettes/new/tape.jsonl");
    await openRecorder({ http: http.send, file });
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test("that cannot be written is told before anything is sent", async () => {
    await expect(openRecorder({ http: http.send, file: "/dev/null/tape" })).rejects.toMatchObject({
      code: "usage",
    });
  });
});

async function* bytes(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
const one = (text: string) => bytes(Buffer.from(text));
