// MCP through the built command: servers are set up, tried and used, wait for trust, end with Keel, and Keel is one.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { everything, nobodyWith, processesWith } from "../support/mcp-stage.ts";
import { verifies } from "../support/verifies.ts";
import { command, openStage, until } from "./stage.ts";

const patience = { timeout: 180_000 };
const fixture = path.resolve(import.meta.dirname, "../fixtures/mcp-bad/server.mjs");

describe("keel mcp", () => {
  test("adds a server, lists it, tries it and removes it", patience, async () => {
    verifies("S4.61");
    const stage = await openStage({ replies: [] });
    const added = await stage.run([
      "mcp",
      "add",
      "all",
      "-e",
      "KEY=secret-value",
      "--",
      process.execPath,
      everything,
      "stdio",
      "postgresql://me:secret-value@db/x",
    ]);
    expect(added).toMatchObject({ code: 0, stdout: "" });
    const listed = await stage.run(["mcp", "list"]);
    expect(listed.stdout).toContain("all  (user, stdio)");
    expect(listed.stdout).toContain("postgresql://…@db/x");
    expect((await stage.run(["mcp", "list", "--json"])).stdout).not.toContain("secret-value");
    const status = await stage.run(["mcp", "status"]);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/all .*connected[\s\S]*echo/) });
    expect(await nobodyWith(everything)).toEqual([]);
    expect((await stage.run(["mcp", "remove", "all"])).code).toBe(0);
    expect((await stage.run(["mcp", "list"])).stdout).toBe("");
    expect((await stage.run(["mcp", "remove", "all"])).code).toBe(64);
  });

  test("a server that is not there ends the look with 1 and its reason", patience, async () => {
    verifies("S4.64");
    const stage = await openStage({ replies: [] });
    await stage.run(["mcp", "add", "none", "--", "/nonexistent/server"]);
    expect(await stage.run(["mcp", "status"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("failed"),
    });
  });

  test("servers of a project wait for trust; named sources are trusted for once", patience, async () => {
    verifies("G35", "S4.36", "S0.66");
    const stage = await openStage({
      replies: [reply("one"), reply(toolUse("mcp__mine__go", {})), reply("two")],
    });
    const file = path.join(stage.project, "count");
    const mcpServers = { mine: { command: process.execPath, args: [fixture, "description-changes", file] } };
    writeFileSync(path.join(stage.project, ".mcp.json"), JSON.stringify({ mcpServers }));
    mkdirSync(path.join(stage.project, ".git"));
    const untrusted = await stage.run(["-p", "go"]);
    expect(untrusted.stderr).toContain("MCP server");
    expect(processesWith(file)).toEqual([]);
    const named = ["-p", "go", "--setting-sources", "project", "--allowed-tools", "mcp__mine"];
    const trusted = await stage.run([...named, "--output-format", "stream-json"]);
    expect(trusted.stdout).toContain("went");
    expect(await nobodyWith(file)).toEqual([]);
  });

  test("no server outlives a Keel that was killed", patience, async () => {
    verifies("G9", "G37");
    const stage = await openStage({ replies: [{ ...reply("late"), delayMs: 60_000 }] });
    const file = path.join(stage.project, "count");
    const servers = JSON.stringify({
      bad: { command: process.execPath, args: [fixture, "ignores-sigterm", file] },
    });
    const running = stage.start(["-p", "go", "--mcp-config", servers]);
    await until(
      "the server runs and the model was asked",
      () => processesWith(`ignores-sigterm ${file}`).length > 0,
    );
    running.child.kill("SIGKILL");
    await running.ended;
    expect(
      (await nobodyWith(`ignores-sigterm ${file}`)).filter((line) => !line.includes("mcp-config")),
    ).toEqual([]);
  });
});

test("keel mcp serve: another agent gives it a task, says yes to it, and goes on", patience, async () => {
  verifies("P46");
  const stage = await openStage({
    replies: [reply(toolUse("Bash", { command: "touch made.txt" })), reply("made"), reply("went on")],
  });
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: {} };
  });
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({
      ...{ command, args: ["mcp", "serve"], cwd: stage.project },
      env: { PATH: process.env["PATH"] ?? "", ...stage.env },
    }),
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["keel"]);
  const first = await client.callTool({ name: "keel", arguments: { prompt: "make a file" } });
  expect(first).toMatchObject({ content: [{ text: "made" }], isError: false });
  expect(asked).toEqual([expect.stringContaining("touch made.txt")]);
  const session = (first.structuredContent as { session: string }).session;
  const second = await client.callTool({ name: "keel", arguments: { prompt: "go on", session } });
  expect(second).toMatchObject({ content: [{ text: "went on" }], structuredContent: { session } });
});
