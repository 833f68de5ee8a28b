// A program of the official SDK attached to a session of a server, by the facts of its browser client's wire. The client
// itself is driven in `npm run test:long -- browser-client`, where it is installed.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import type { Stage } from "./handle/stage.ts";
import {
  attached,
  comparable,
  inProcess,
  openStream,
  type SseFrame,
  serving,
  socketWire,
  streamWire,
} from "./server/sdk-drivers.ts";
import { sdkScenarios } from "./server/sdk-scenarios.ts";
import { countOf } from "./support/budget.ts";
import { sdkStage } from "./support/sdk-stage.ts";
import { verifies } from "./support/verifies.ts";

const folderOf = ({ cwd }: Pick<Stage, "cwd">): string => path.dirname(cwd);

const compared = Object.entries(sdkScenarios).slice(0, countOf("sdk-wire"));

describe("a program that is attached hears what query() says in process:", () => {
  test.each(compared)("%s", async (_, scenario) => {
    verifies("S3.1", "S3.17");
    const near = await sdkStage({ replies: scenario.replies });
    const expected = comparable(await inProcess(near, scenario), folderOf(near));

    const socket = await serving(scenario);
    const address = `${socket.url.replace("http", "ws")}/ws/sdk/${socket.session}`;
    const line = await socketWire(address, socket.secret);
    const overSocket = await attached(line, scenario);
    line.close();
    expect(comparable(overSocket, folderOf(socket.at))).toEqual(expected);

    const stream = await serving(scenario);
    const wire = await streamWire(stream.base, { ...stream, query: "?replay_user_messages=false" });
    const overStream = await attached(wire, scenario);
    wire.close();
    expect(comparable(overStream, folderOf(stream.at))).toEqual(expected);
  });
});

test("there are at least twenty conversations to compare", () => {
  expect(Object.keys(sdkScenarios).length).toBeGreaterThanOrEqual(20);
});

const twoTurns = { replies: [reply("One."), reply(toolUse("Bash", { command: "echo a" })), reply("Two.")] };
const isDurable = ({ event, data }: SseFrame): boolean =>
  event === "client_event" && !String((data["payload"] as { type: string }).type).startsWith("control_");
const numbersOf = (frames: readonly SseFrame[]): number[] =>
  frames.filter(isDurable).map(({ data }) => Number(data["sequence_num"]));

/** What a stream tells after a number, to the last result. */
async function toldAfter(base: string, secret: string, after: number, results: number): Promise<SseFrame[]> {
  const { frames, stop } = await openStream(`${base}/events/stream`, { secret, after });
  const told: SseFrame[] = [];
  let left = results;
  for await (const frame of frames) {
    told.push(frame);
    if (frame.event === "client_event" && (frame.data["payload"] as { type: string }).type === "result")
      left--;
    if (left === 0) break;
  }
  stop();
  return told;
}

describe("the stream of an attached program", () => {
  test("numbers what it tells, says what became of each message, and goes on after any number without a gap", async () => {
    verifies("P16");
    const { at, base, secret, session } = await serving({
      ...twoTurns,
      options: { allowedTools: ["Bash(echo:*)"] },
    });
    const wire = await streamWire(base, { secret, session });
    await attached(wire, { ...twoTurns, prompts: ["1", "2"] });
    const whole = wire.frames.filter(isDurable);
    const numbers = numbersOf(whole);
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    expect(
      whole.every(({ id, data }) => id === String(data["sequence_num"]) && data["source"] === "worker"),
    ).toBe(true);

    const echoes = whole.filter(
      ({ data }) => (data["payload"] as Record<string, unknown>)["isReplay"] === true,
    );
    expect(echoes).toHaveLength(2);
    for (const { data } of echoes) {
      const statuses = () =>
        wire.frames.flatMap(({ event, data: { event_id, status } }) =>
          event === "delivery_update" && event_id === data["event_id"] ? [status] : [],
        );
      await expect
        .poll(statuses)
        .toEqual(["DELIVERY_STATUS_RECEIVED", "DELIVERY_STATUS_PROCESSING", "DELIVERY_STATUS_PROCESSED"]);
    }
    wire.close();
    for (const [index, number] of numbers.slice(0, -1).entries()) {
      const results = whole
        .slice(index + 1)
        .filter(({ data }) => (data["payload"] as { type: string }).type === "result");
      const rest = await toldAfter(base, secret, number, results.length);
      expect(numbersOf(rest)).toEqual(numbers.slice(index + 1));
    }
    expect(at.model.requests).toHaveLength(3);
  });

  test("tells the same under the same numbers when the session was closed and comes back, from the log", async () => {
    verifies("S3.7", "S3.12");
    const { base, secret, session, call } = await serving(twoTurns);
    const wire = await streamWire(base, { secret, session });
    await attached(wire, { ...twoTurns, prompts: ["1"] });
    wire.close();
    const told = wire.frames.filter(isDurable).map(({ data }) => [data["sequence_num"], data["event_id"]]);
    await call("POST", `/api/sessions/${session}/commands`, { command: { type: "close" } });

    const again = await toldAfter(base, secret, 0, 1);
    expect(again.map(({ event }) => event)).not.toContain("catch_up_truncated");
    expect(again.filter(isDurable).map(({ data }) => [data["sequence_num"], data["event_id"]])).toEqual(told);
  });

  test("says so when it cannot tell all that came after a number, and pages tell what the log has", async () => {
    const scenario = sdkScenarios["an agent that works below"];
    if (!scenario) throw new Error("the scenario has another name");
    const { base, secret, session, call } = await serving(scenario);
    const wire = await streamWire(base, { secret, session });
    await attached(wire, scenario);
    wire.close();
    const first = await toldAfter(base, secret, 0, 1);
    expect(first.map(({ event }) => event)).not.toContain("catch_up_truncated");
    await call("POST", `/api/sessions/${session}/commands`, { command: { type: "close" } });

    const told = await toldAfter(base, secret, 1, 1);
    expect(told[0]?.event).toBe("catch_up_truncated");
    const pages: unknown[] = [];
    for (let after = 0, more = true; more; ) {
      const page = await call(
        "GET",
        `/v1/code/sessions/${session}/events?after_sequence_num=${after}&limit=2`,
      );
      const events = page["events"] as { sequence_num: number }[];
      pages.push(...events.map(({ sequence_num }) => sequence_num));
      after = events.at(-1)?.sequence_num ?? after;
      more = page["has_more"] === true;
    }
    expect(pages).toEqual(numbersOf(told));
  });

  test("takes a request that was posted twice once, and refuses what is no line and what is of another session", async () => {
    const { base, secret, session } = await serving(twoTurns);
    const post = async (body: unknown) =>
      (
        await fetch(`${base}/events`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).status;
    const { frames, stop } = await openStream(`${base}/events/stream`, { secret });
    const payload = {
      type: "control_request",
      request_id: "twice",
      request: { subtype: "get_binary_version" },
    };
    expect(await post({ session_id: session, events: [{ payload }] })).toBe(200);
    expect(await post({ session_id: session, events: [{ payload }] })).toBe(200);
    const last = { type: "control_request", request_id: "last", request: { subtype: "get_session_cost" } };
    expect(await post({ session_id: session, events: [{ payload: last }] })).toBe(200);
    const answered: string[] = [];
    for await (const { event, data } of frames) {
      if (event !== "client_event") continue;
      const { response } = data["payload"] as { response: { request_id: string } };
      answered.push(response.request_id);
      if (response.request_id === "last") break;
    }
    stop();
    expect(answered).toEqual(["twice", "last"]);
    expect(await post({ session_id: "another", events: [{ payload }] })).toBe(400);
    expect(await post({ events: [{ payload: { no: "type" } }] })).toBe(400);
    expect(await post({ events: [] })).toBe(400);
  });
});

describe("a socket that shows its secret in its first line", () => {
  test("is let in with a right one, and told nothing without", async () => {
    const { url, session, secret } = await serving(twoTurns);
    const address = `${url.replace("http", "ws")}/ws/sdk/${session}`;
    const closed = (first: string) =>
      new Promise<number>((resolve, reject) => {
        const socket = new WebSocket(address);
        const heard: unknown[] = [];
        socket.on("message", (data) => heard.push(String(data)));
        socket.on("open", () => socket.send(first));
        socket.on("error", reject);
        socket.on("close", (code) => (heard.length > 0 ? reject(new Error(String(heard))) : resolve(code)));
      });
    const auth = (token: string) => JSON.stringify({ type: "auth", credential: { type: "oauth", token } });
    expect(await closed(auth("wrong"))).toBe(4401);
    expect(await closed('{"type":"keep_alive"}')).toBe(4401);
    expect(await closed("no JSON")).toBe(4401);
    const wire = await socketWire(address, secret);
    expect(await attached(wire, { ...twoTurns, prompts: ["1"] })).toMatchObject(
      Array.from({ length: 3 }, () => ({ session_id: session })),
    );
    wire.close();
    // Every other socket wants it before.
    await expect(
      new Promise((resolve, reject) => {
        new WebSocket(`${url.replace("http", "ws")}/ws`).on("open", resolve).on("error", reject);
      }),
    ).rejects.toThrow("401");
  });
});
