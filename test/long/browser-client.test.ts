// The official SDK's own browser client, attached to sessions of a server: over a socket and over server-sent events, in
// Node. It is installed outside of this repository, and named by KEEL_OFFICIAL_SDK (the folder of the package).
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { comparable, inProcess, serving } from "../server/sdk-drivers.ts";
import { type SdkScenario, sdkScenarios, type WireMessage } from "../server/sdk-scenarios.ts";
import { notRunHere } from "../support/not-run.ts";
import { sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const sdk = process.env["KEEL_OFFICIAL_SDK"] ?? "";
if (sdk === "") notRunHere("the official browser client", "KEEL_OFFICIAL_SDK is not set");

type Running = AsyncIterable<WireMessage> & {
  interrupt(): Promise<unknown>;
  setPermissionMode(mode: string): Promise<unknown>;
  close(): void;
};
type BrowserClient = {
  query(options: Record<string, unknown>): Running;
  getSseLastSequenceNum(query: Running): number | undefined;
  getSseDropCounts(query: Running): Readonly<Record<string, number>> | undefined;
};

const load = async (): Promise<BrowserClient> =>
  import(pathToFileURL(path.join(sdk, "browser-sdk.js")).href) as Promise<BrowserClient>;

type Served = Awaited<ReturnType<typeof serving>>;
type Way = "websocket" | "sse";

const wayTo = (way: Way, { url, base, session, secret }: Served, more: object = {}) =>
  way === "websocket"
    ? {
        websocket: {
          url: `${url.replace("http", "ws")}/ws/sdk/${session}`,
          authMessage: { type: "auth", credential: { type: "oauth", token: secret } },
        },
      }
    : {
        sse: {
          streamUrl: `${base}/events/stream?replay_user_messages=false`,
          sendUrl: `${base}/events?replay_user_messages=false`,
          sessionId: session,
          headers: { Authorization: `Bearer ${secret}` },
          ...more,
        },
      };

/** What the client's iterator gives, to the last result. */
async function drive(way: Way, at: Served, scenario: SdkScenario, more: object = {}) {
  const client = await load();
  const heard: WireMessage[] = [];
  let turn = Promise.withResolvers<void>();
  async function* prompt() {
    // The client reads its prompts before `query` has returned.
    await Promise.resolve();
    await scenario.first?.(async ({ mode }) => running.setPermissionMode(String(mode)));
    for (const content of scenario.prompts) {
      turn = Promise.withResolvers();
      yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" };
      await turn.promise;
    }
    ended.resolve();
  }
  const ended = Promise.withResolvers<void>();
  const running = client.query({
    prompt: prompt(),
    canUseTool: async (tool: string, input: Record<string, unknown>) => {
      const answer = scenario.answer?.(tool, input) ?? { behavior: "deny", message: "No." };
      if (answer !== "interrupt") return answer;
      void running.interrupt();
      return null;
    },
    ...wayTo(way, at, more),
  });
  for await (const message of running) {
    heard.push(message);
    if (message.type !== "result") continue;
    turn.resolve();
    if (heard.filter(({ type }) => type === "result").length === scenario.prompts.length) break;
  }
  await ended.promise;
  const last = client.getSseLastSequenceNum(running);
  const drops = client.getSseDropCounts(running);
  running.close();
  return { heard, last, drops };
}

describe.runIf(sdk !== "").each(["websocket", "sse"] as const)("the official client over %s", (way) => {
  test.each(Object.entries(sdkScenarios))("hears what query() says: %s", async (_, scenario) => {
    verifies("S3.1", "S3.17");
    const near = await sdkStage({ replies: scenario.replies });
    const expected = comparable(await inProcess(near, scenario), path.dirname(near.cwd));
    const at = await serving(scenario);
    const { heard, drops } = await drive(way, at, scenario);
    expect(comparable(heard, path.dirname(at.at.cwd))).toEqual(expected);
    expect(drops ?? {}).toEqual({});
  });
});

describe.runIf(sdk !== "")("the official client's cursor", () => {
  const scenario = { replies: [reply("One."), reply("Two."), reply("Three.")], prompts: ["1"] };

  test("resumes without a gap, and nothing comes twice", async () => {
    const at = await serving(scenario);
    const first = await drive("sse", at, scenario);
    const second = await drive("sse", at, scenario, { fromSequenceNum: first.last });
    const whole = await drive("sse", at, scenario, { fromSequenceNum: 0 });
    const ids = (messages: readonly WireMessage[]) => messages.map(({ uuid }) => uuid);
    // The third begins from the start: it hears the first turn, and stops at its result.
    expect(ids(whole.heard)).toEqual(ids(first.heard));
    expect(new Set([...ids(first.heard), ...ids(second.heard)]).size).toBe(
      first.heard.length + second.heard.length,
    );
  });

  test("that is too old is told so", async () => {
    const agent = sdkScenarios["an agent that works below"];
    if (!agent) throw new Error("the scenario has another name");
    const at = await serving({ replies: [...agent.replies, reply("Again.")] });
    const before = await drive("sse", at, agent);
    await at.call("POST", `/api/sessions/${at.session}/commands`, { command: { type: "close" } });
    let told = 0;
    const truncated = { fromSequenceNum: 1, onCatchUpTruncated: () => told++ };
    await drive("sse", at, { replies: [], prompts: ["Once more"] }, truncated);
    expect(told).toBe(1);
    told = 0;
    await drive(
      "sse",
      at,
      { replies: [], prompts: ["And again"] },
      { ...truncated, fromSequenceNum: before.last },
    );
    expect(told).toBe(0);
  });
});
