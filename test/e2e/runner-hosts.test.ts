// The hosts that the guide shows, run as they stand there, and Linear over a server of our own.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { examplesOf } from "../docs/examples.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { startHost } from "./runner-host.ts";
import { command, openStage } from "./stage.ts";

const codeIn = (language: string): string =>
  examplesOf("host").find(({ kind }) => kind === language)?.text ?? "";
const run = promisify(execFile);

const hosts = [
  {
    language: "python",
    program: "python3",
    version: ["--version"],
    file: "host.py",
    start: (file: string) => [file],
  },
  {
    language: "go",
    program: "go",
    version: ["version"],
    file: "host.go",
    start: (file: string) => ["run", file],
  },
];

describe("the hosts of the guide", () => {
  test.each(hosts)("$language", { timeout: 120_000 }, async ({ language, program, version, file, start }) => {
    verifies("S0.1");
    if (!hasProgram(program, version)) return notRunHere(`host in ${language}`, `${program} is absent`);
    const stage = await openStage({
      replies: [reply(toolUse("Bash", { command: "touch never" }, "b")), reply("Hello there.")],
    });
    const folder = mkdtempSync(path.join(tmpdir(), "keel-host-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const place = path.join(folder, file);
    writeFileSync(place, codeIn(language));
    const { stdout } = await run(program, [...start(place), command, "say hello"], {
      cwd: stage.project,
      env: { ...process.env, ...stage.env, GOCACHE: path.join(folder, "cache") },
    });
    expect(stdout).toContain("Hello there.");
    expect(stdout).toContain("completed: $");
    expect(JSON.stringify(stage.log())).toContain('"denied"');
  });
});

function hasProgram(program: string, version: readonly string[]): boolean {
  try {
    execFileSync(program, [...version], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("an issue of Linear is read, a branch is made for it, and its status is only noted", async () => {
  verifies("S0.22", "S0.70");
  const asked: { key: unknown; body: unknown }[] = [];
  const linear = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      asked.push({ key: request.headers.authorization, body: JSON.parse(body) });
      const issue = {
        identifier: "LIN-7",
        title: "Mend the $(gate)!",
        description: "It squeaks.",
        url: "https://x",
        state: { name: "Todo" },
      };
      response.end(JSON.stringify({ data: { issue } }));
    });
  });
  await new Promise<void>((resolve) => linear.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void linear.close());
  const call = (name: string, input: object, id: string) =>
    toolUse(`mcp__workspace__${name}`, JSON.parse(JSON.stringify(input)), id);
  const stage = await openStage({
    replies: [
      reply(call("get_linear_context", {}, "c")),
      reply(call("start_linear_issue", {}, "s")),
      reply(call("update_linear_status", { status: "In Progress" }, "u")),
      reply("Done."),
    ],
  });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: stage.project,
      encoding: "utf8",
    });
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  const host = startHost(stage, ["--linear-issue", "LIN-7"], {
    LINEAR_API_KEY: "lin-key",
    KEEL_LINEAR_URL: `http://127.0.0.1:${(linear.address() as AddressInfo).port}/graphql`,
  });
  host.send({ type: "message", content: "start it" });
  const approval = await host.next("tool_approval_request");
  expect(approval).toMatchObject({ tool: "mcp__workspace__start_linear_issue" });
  host.send({ type: "tool_approval_response", requestId: approval["requestId"], approved: true });
  await host.next("result");
  host.end();
  await host.exited;
  expect(host.stray).toEqual([]);
  expect(asked[0]).toMatchObject({ key: "lin-key", body: { variables: { id: "LIN-7" } } });
  expect(git("branch", "--show-current").trim()).toBe("lin-7-mend-the-gate");
  expect(host.lines.filter(({ type }) => type === "issue_updated")).toMatchObject([
    { issue: { branch: "lin-7-mend-the-gate" } },
    { issue: { id: "LIN-7", status: "In Progress" } },
  ]);
  expect(JSON.stringify(host.lines)).not.toContain("lin-key");
});
