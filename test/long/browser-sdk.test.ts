// The official SDK's own browser client in a real browser, attached to sessions of a server over a socket and over
// server-sent events. It is installed into a temporary folder for this suite, or named by KEEL_OFFICIAL_SDK.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { comparable, inProcess, serving } from "../server/sdk-drivers.ts";
import { type SdkScenario, sdkScenarios, type WireMessage } from "../server/sdk-scenarios.ts";
import { openPage, sharedBrowser } from "../support/browser.ts";
import { sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const version = "0.3.325";
const browser = sharedBrowser();
let source = "";
let folder = "";
beforeAll(() => {
  const named = process.env["KEEL_OFFICIAL_SDK"];
  folder = mkdtempSync(path.join(tmpdir(), "keel-official-"));
  const wanted = `@anthropic-ai/claude-agent-sdk@${version}`;
  if (named === undefined)
    execFileSync("npm", ["install", "--prefix", folder, "--ignore-scripts", "--omit=optional", wanted], {
      stdio: "ignore",
    });
  const sdk = named ?? path.join(folder, "node_modules/@anthropic-ai/claude-agent-sdk");
  source = readFileSync(path.join(sdk, "browser-sdk.js"), "utf8");
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Served = Awaited<ReturnType<typeof serving>>;
type Way = "websocket" | "sse";
type Heard = {
  readonly heard: WireMessage[];
  readonly last: number | null;
  readonly drops: Readonly<Record<string, number>>;
  readonly truncated: number;
};

/** Runs in the page: what the client's iterator gives, to the last result. */
const inPage = `async ({ way, from, session, secret, prompts, modes }) => {
  // It looks at it as bundlers leave it in pages.
  globalThis.process ??= { env: {} };
  const client = await import("/official/browser-sdk.js");
  const base = location.origin + "/v1/code/sessions/" + session;
  let truncated = 0;
  const to = way === "websocket"
    ? { websocket: {
        url: [location.origin.replace("http", "ws"), "ws", "sdk", session].join("/"),
        authMessage: { type: "auth", credential: { type: "oauth", token: secret } },
      } }
    : { sse: {
        streamUrl: base + "/events/stream?replay_user_messages=false",
        sendUrl: base + "/events?replay_user_messages=false",
        sessionId: session,
        headers: { Authorization: "Bearer " + secret },
        ...(from === null ? {} : { fromSequenceNum: from, onCatchUpTruncated: () => { truncated += 1; } }),
      } };
  const heard = [];
  let turn = Promise.withResolvers();
  const ended = Promise.withResolvers();
  async function* prompt() {
    await Promise.resolve();
    for (const mode of modes) await running.setPermissionMode(mode);
    for (const content of prompts) {
      turn = Promise.withResolvers();
      yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" };
      await turn.promise;
    }
    ended.resolve();
  }
  const running = client.query({
    prompt: prompt(),
    canUseTool: async (tool, input) => {
      const answer = await window.answerFor(tool, input);
      if (answer !== "interrupt") return answer;
      void running.interrupt();
      return null;
    },
    ...to,
  });
  let results = 0;
  for await (const message of running) {
    heard.push(message);
    if (message.type !== "result") continue;
    results += 1;
    turn.resolve();
    if (results === prompts.length) break;
  }
  await ended.promise;
  const last = client.getSseLastSequenceNum(running) ?? null;
  const drops = client.getSseDropCounts(running) ?? {};
  running.close();
  return { heard, last, drops, truncated };
}`;

async function drive(
  way: Way,
  { url, session, secret }: Served,
  scenario: SdkScenario,
  from: number | null = null,
): Promise<Heard> {
  // A page that the test makes up has no address of its own: the browser takes it for one of the wide world.
  const { page } = await openPage(browser(), { permissions: ["local-network-access"] });
  await page.route(`${url}/official/**`, (route) =>
    route.request().url().endsWith(".js")
      ? route.fulfill({ contentType: "text/javascript", body: source })
      : route.fulfill({ contentType: "text/html", body: "<!doctype html><title>A program</title>" }),
  );
  await page.exposeFunction(
    "answerFor",
    (tool: string, input: Record<string, unknown>) =>
      scenario.answer?.(tool, input) ?? { behavior: "deny", message: "No." },
  );
  await page.goto(`${url}/official/`);
  const modes: unknown[] = [];
  await scenario.first?.(async ({ mode }) => void modes.push(mode));
  const options = { way, from, session, secret, prompts: scenario.prompts, modes };
  const heard = await page.evaluate<Heard>(`(${inPage})(${JSON.stringify(options)})`);
  await page.context().close();
  return heard;
}

describe.each(["websocket", "sse"] as const)("in Chromium over %s", (way) => {
  test.each(Object.entries(sdkScenarios))(
    "the official client hears what query() says: %s",
    async (_, scenario) => {
      verifies("S3.1", "S3.17");
      const near = await sdkStage({ replies: scenario.replies });
      const expected = comparable(await inProcess(near, scenario), path.dirname(near.cwd));
      const at = await serving(scenario);
      const { heard, drops } = await drive(way, at, scenario);
      expect(comparable(heard, path.dirname(at.at.cwd))).toEqual(expected);
      expect(drops).toEqual({});
    },
  );
});

describe("in Chromium the official client's cursor", () => {
  const scenario = { replies: [reply("One."), reply("Two."), reply("Three.")], prompts: ["1"] };
  const ids = (messages: readonly WireMessage[]) => messages.map(({ uuid }) => uuid);

  test("resumes without a gap, and nothing comes twice", async () => {
    verifies("S3.12");
    const at = await serving(scenario);
    const first = await drive("sse", at, scenario);
    const second = await drive("sse", at, scenario, first.last);
    const whole = await drive("sse", at, scenario, 0);
    expect(ids(whole.heard)).toEqual(ids(first.heard));
    const all = [...ids(first.heard), ...ids(second.heard)];
    expect(new Set(all).size).toBe(all.length);
  });

  test("that is too old is told so", async () => {
    const agent = sdkScenarios["an agent that works below"];
    if (!agent) throw new Error("the scenario has another name");
    const at = await serving({ replies: [...agent.replies, reply("Again."), reply("Once more.")] });
    const before = await drive("sse", at, agent);
    await at.call("POST", `/api/sessions/${at.session}/commands`, { command: { type: "close" } });
    const more = { replies: [], prompts: ["Once more"] };
    expect((await drive("sse", at, more, 1)).truncated).toBe(1);
    expect((await drive("sse", at, more, before.last)).truncated).toBe(0);
  });
});
