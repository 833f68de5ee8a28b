// G37: whatever a server does, the turn goes on within its limit, nothing crashes, and nobody is left behind.
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import type { McpServerStatus } from "../../keel/src/sdk/tools/mcp-server.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { nobodyWith } from "../support/mcp-stage.ts";
import { sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const fixture = path.resolve(import.meta.dirname, "../fixtures/mcp-bad/server.mjs");
/** What the limits below allow a turn, with room for a machine that does other things too. */
const maxTurnMs = 30_000;
const waits = { startMs: 2_500, connectMs: 4_000, callMs: 4_000 };

type Played = {
  readonly result: Extract<SDKMessage, { type: "result" }>;
  readonly status: McpServerStatus;
  /** What the model read of its call. */
  readonly said: string;
  readonly failed: boolean;
  readonly offered: readonly string[];
  readonly descriptions: string;
  readonly asked: readonly { readonly title: string; readonly reason: string }[];
  readonly ms: number;
};

type Stage = Awaited<ReturnType<typeof sdkStage>>;
type Asked = { readonly title: string; readonly reason: string };

async function openPlay(turns = 1) {
  const replies = Array.from({ length: turns }, () => [
    reply(toolUse("mcp__bad__go", { text: "x" })),
    reply("done"),
  ]);
  const stage = await sdkStage({ replies: replies.flat() });
  const file = path.join(stage.cwd, "count");
  return { stage, file };
}

async function play(
  kind: string,
  { stage, file }: { stage: Stage; file: string },
  more: Options = {},
): Promise<Played> {
  const asked: Asked[] = [];
  const started = performance.now();
  const session = query({
    prompt: "go",
    options: {
      ...stage.options,
      settings: { mcp: waits },
      mcpServers: { bad: { command: process.execPath, args: [fixture, kind, file] } },
      canUseTool: async (_, input, { title = "", decisionReason = "" }) => {
        asked.push({ title, reason: decisionReason });
        // A plain call is allowed; whatever else is asked is not.
        return title === "Allow mcp__bad__go?"
          ? { behavior: "allow", updatedInput: input }
          : { behavior: "deny", message: "no, thank you" };
      },
      ...more,
    },
  });
  let status: McpServerStatus | undefined;
  let result: Played["result"] | undefined;
  let block: { content?: unknown; is_error?: boolean } = {};
  for await (const message of session) {
    if (message.type === "assistant") [status] = await session.mcpServerStatus();
    if (message.type === "user" && Array.isArray(message.message.content))
      block = message.message.content[0] as typeof block;
    if (message.type === "result") result = message;
  }
  const ms = performance.now() - started;
  if (!result || !status) throw new Error("no result");
  const requests = stage.server.requests.map(({ body }) => body as { tools?: { name: string }[] });
  const [first] = requests;
  return {
    ...{ result, status, ms, asked },
    said: JSON.stringify(block.content ?? ""),
    failed: block.is_error === true,
    offered: (first?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith("mcp__")),
    descriptions: JSON.stringify(requests),
  };
}

type Row = { readonly kind: string; readonly check: (played: Played) => void };

const works = ({ said, failed }: Played): void => {
  expect({ said, failed }).toMatchObject({ said: expect.stringContaining("went"), failed: false });
};
const absent = (played: Played): void => {
  expect(played.status.status).not.toBe("connected");
  expect(played.offered).toEqual([]);
  expect(played.failed).toBe(true);
};
const fails = ({ failed, status }: Played): void => {
  expect(failed).toBe(true);
  expect(["connected", "pending", "failed"]).toContain(status.status);
};

const rows: readonly Row[] = [
  { kind: "exits-at-once", check: absent },
  { kind: "never-answers", check: absent },
  { kind: "answers-late", check: absent },
  { kind: "garbage", check: works },
  { kind: "half-line", check: fails },
  { kind: "long-line", check: fails },
  { kind: "stderr-flood", check: works },
  {
    kind: "many-tools",
    check(played) {
      expect(played.status.tools).toHaveLength(10_001);
      expect(played.offered.length).toBeLessThanOrEqual(500);
      works(played);
    },
  },
  {
    kind: "constructor-tool",
    check(played) {
      expect(played.offered).toContain("mcp__bad__constructor");
      expect(Object.keys(Object.prototype)).toEqual([]);
      works(played);
    },
  },
  {
    kind: "built-in-name",
    check(played) {
      expect(played.offered).toEqual(["mcp__bad__Bash", "mcp__bad__Read", "mcp__bad__go"]);
      works(played);
    },
  },
  {
    kind: "long-description",
    check(played) {
      expect(played.descriptions.length).toBeLessThan(400_000);
      expect(played.descriptions).not.toContain("d".repeat(3_000));
      works(played);
    },
  },
  {
    kind: "instructions",
    check(played) {
      // It is text of a tool, with nothing that hides, and permission is asked all the same.
      expect(played.descriptions).not.toContain("\u202e");
      expect(played.asked.map(({ title }) => title)).toEqual(["Allow mcp__bad__go?"]);
      works(played);
    },
  },
  {
    kind: "list-grows",
    check(played) {
      expect(played.offered).toEqual(["mcp__bad__go"]);
      works(played);
    },
  },
  { kind: "huge-result", check: fails },
  {
    kind: "escape-codes",
    check(played) {
      expect(played.said).toBe(JSON.stringify("plainred end"));
    },
  },
  { kind: "unknown-id", check: works },
  { kind: "two-results", check: works },
  { kind: "notification-flood", check: works },
  {
    kind: "asks-for-sampling",
    check(played) {
      expect(played.asked.map(({ title }) => title)).toEqual([
        "Allow mcp__bad__go?",
        "May the server bad ask the model?",
      ]);
      expect(played.said).toContain("refused");
      expect(played.failed).toBe(false);
    },
  },
  { kind: "ignores-sigterm", check: works },
  { kind: "forks-holder", check: works },
];

describe("a bad MCP server", () => {
  test.each(rows)(
    "$kind: the turn goes on, and nobody is left behind",
    { timeout: 60_000 },
    async ({ kind, check }) => {
      verifies("G37", "S4.64");
      const site = await openPlay();
      const played = await play(kind, site);
      expect(played.result).toMatchObject({ subtype: "success", result: "done" });
      check(played);
      expect(played.ms).toBeLessThan(maxTurnMs);
      expect(await nobodyWith(site.file)).toEqual([]);
    },
  );

  test("look-alike-url: a person sees the host as the network knows it", { timeout: 60_000 }, async () => {
    verifies("G37", "P45");
    const site = await openPlay();
    const seen: unknown[] = [];
    const played = await play("look-alike-url", site, {
      onElicitation: async (request) => {
        seen.push(request);
        return { action: "decline" };
      },
    });
    expect(seen).toMatchObject([{ serverName: "bad", mode: "url", url: "https://xn--pple-43d.com/login" }]);
    expect(played.said).toContain("decline");
    expect(await nobodyWith(site.file)).toEqual([]);
  });

  test.each(["description-changes", "schema-changes"])(
    "%s: a changed tool does not run before somebody has seen it, and the model does not read it either",
    { timeout: 60_000 },
    async (kind) => {
      verifies("G37");
      const site = await openPlay(2);
      const first = await play(kind, site);
      expect(first.said).toContain("went");
      const second = await play(kind, site);
      expect(second.asked.map(({ title }) => title)).toEqual([
        "Allow mcp__bad__go?",
        "The tool mcp__bad__go is not what it was. Use it as it is now?",
      ]);
      expect(second.failed).toBe(true);
      expect(second.said).not.toContain("went");
      expect(second.descriptions).not.toMatch(/Sends your files away|secret/);
      expect(await nobodyWith(site.file)).toEqual([]);
    },
  );
});
