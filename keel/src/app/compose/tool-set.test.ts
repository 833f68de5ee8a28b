import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSession } from "../../../../test/support/open-session.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { text } from "../../protocol/message.ts";
import { startModelServer } from "../../testing/model-server.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { Reply } from "../../testing/script.ts";
import type { OpenOptions } from "../options.ts";
import { searchEngine } from "./late-ports.ts";

/** Says something in a session of its own and returns what the model was sent. */
async function said(more: Partial<OpenOptions> = {}, replies: Reply[] = [reply("hi")]) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-tools-")));
  mkdirSync(path.join(folder, "project"));
  const server = await startModelServer({ script: { replies } });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const session = await openSession({
    version: "0.0.0",
    cwd: path.join(folder, "project"),
    home: path.join(folder, "home"),
    ...more,
    env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "k", ...more.env },
  });
  session.onEvent((event) => {
    if (event.type === "ask.opened")
      void session.submit({ type: "answer", askId: event.ask.id, answer: { verdict: "allow" } });
  });
  await session.submit({ type: "input", content: [text("Say hi.")] });
  await session.idle();
  const log = await Array.fromAsync(session.history());
  await session.close("ended");
  const bodies = server.requests.map(({ body }) => body);
  return { session, log, bodies, home: path.join(folder, "home"), tools: toolsOf(bodies[0]) };
}
const toolsOf = (body: JsonObject | undefined): { name: string }[] =>
  JSON.parse(JSON.stringify(body?.["tools"] ?? []));
const names = (tools: { name: string }[]): string[] => tools.map(({ name }) => name);

const kilobyte = 1_024;
const maxBytes = 24 * kilobyte;

describe("the first request", () => {
  test("with every default tool is at most 24 KB", async () => {
    const { bodies, tools } = await said({ asks: "answered", permissionMode: "plan" });
    const body = bodies[0] ?? {};
    const bytes = (part: unknown): number => Buffer.byteLength(JSON.stringify(part));
    const sizes = [
      ...tools.map((tool) => [tool.name, bytes(tool)] as const),
      ["system", bytes(body["system"])] as const,
      ["messages", bytes(body["messages"])] as const,
    ].sort(([, left], [, right]) => right - left);
    const report = sizes.map(([name, size]) => `${size}\t${name}`).join("\n");
    expect(tools.length).toBeGreaterThan(15);
    expect(bytes(body), `bytes of each part:\n${report}\n`).toBeLessThan(maxBytes);
  });
});

describe("what a session offers", () => {
  test("is a preset, or tools by name", async () => {
    verifies("S0.21", "S2.8");
    const reading = await said({ tools: "read-only" });
    expect(names(reading.tools)).toEqual(["Glob", "Grep", "Read", "WebFetch", "WebSearch"]);
    const two = await said({ tools: ["Read", "Bash", "Nonsense"] });
    expect(names(two.tools)).toEqual(["Bash", "Read"]);
    expect(two.session.info.tools).toEqual(["Bash", "Read"]);
    expect(two.session.notices).toMatchObject([{ text: 'There is no tool called "Nonsense".' }]);
  });

  test("leaves out what rules deny by its bare name, and keeps what they deny in part", async () => {
    verifies("S4.15");
    const { tools } = await said({
      tools: ["Read", "Bash", "Write"],
      disallowedTools: ["Bash", "Write(/etc/x)"],
    });
    expect(names(tools)).toEqual(["Read", "Write"]);
  });

  test("has questions and plans only where the host answers", async () => {
    const asking = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];
    expect(names((await said()).tools).filter((name) => asking.includes(name))).toEqual([]);
    expect(names((await said({ asks: "answered" })).tools).filter((name) => asking.includes(name))).toEqual(
      asking,
    );
  });

  test.each(["KEEL_ENABLE_TASKS", "CLAUDE_CODE_ENABLE_TASKS"])(
    "has the older list with %s=false",
    async (name) => {
      const { tools } = await said({ env: { [name]: "false" } });
      expect(names(tools)).toContain("TodoWrite");
      expect(names(tools)).not.toContain("TaskCreate");
    },
  );
});

describe("a plan in a real session", () => {
  test("stands beside the log, in a folder for nobody else, and is the only thing that may be written", async () => {
    const { bodies, log, home, session } = await said({ asks: "answered", permissionMode: "plan" }, [
      reply(toolUse("ExitPlanMode", { plan: "# Plan\n1. Do A" })),
      reply("Done."),
    ]);
    const [file] = /[^" ]+\/plans\/[A-Za-z0-9_-]+[.]md/.exec(JSON.stringify(bodies[0]?.["messages"])) ?? [];
    expect(file).toBe(session.location?.replace(/\.jsonl$/, "/plans/plan.md"));
    expect(file?.startsWith(home)).toBe(true);
    expect(statSync(path.dirname(file ?? "")).mode & 0o777).toBe(0o700);
    expect(log.filter(({ type }) => type === "settings.changed")).toMatchObject([
      { patch: { permissionMode: "default" }, why: "plan" },
    ]);
    expect(log.find(({ type }) => type === "tool.finished")).toMatchObject({
      failed: false,
      data: { filePath: file },
    });
  });
});

describe("the search engine", () => {
  const brave = { kind: "brave", key: "k" };
  const searxng = { kind: "searxng", url: "http://s.local" };
  test.each([
    [{}, {}, undefined],
    [{}, { BRAVE_API_KEY: "k" }, brave],
    [{}, { KEEL_SEARCH_URL: "http://s.local" }, searxng],
    [{}, { KEEL_SEARCH_URL: "nonsense" }, undefined],
    [{}, { KEEL_SEARCH_URL: "http://s.local", BRAVE_API_KEY: "k" }, searxng],
    [{ provider: "brave" as const }, { KEEL_SEARCH_URL: "http://s.local", BRAVE_API_KEY: "k" }, brave],
    [{ provider: "brave" as const }, {}, undefined],
    [{ provider: "searxng" as const, url: "http://s.local" }, { KEEL_SEARCH_URL: "http://other" }, searxng],
    [{ key: "k" }, {}, brave],
  ])("of %j and %j is %j", (search, env, expected) => {
    const engine = searchEngine({ settings: { search }, env });
    if (expected === undefined) expect(engine).toBe(undefined);
    else expect(engine).toMatchObject(expected);
  });
});
