import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { nodeClock } from "../app/node-ports.ts";
import type { KeelSettings } from "../config/settings/settings-schema.ts";
import type { LiveEvent } from "../protocol/event/live.ts";
import type { HookMoment } from "../protocol/hook.ts";
import { groupGuard } from "../workspace/processes/process-guard.ts";
import { programs } from "../workspace/processes/program.ts";
import { jsonPoster } from "../workspace/web/post-json.ts";
import { hookFirer } from "./run.ts";
import { hooksInSettings } from "./settings-hooks.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-hooks-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

type Entry = { type: string } & Record<string, unknown>;

function fired(entry: Entry, { event = "PreToolUse", env = {} }: { event?: string; env?: object } = {}) {
  const settings: KeelSettings = { hooks: { [event]: [{ hooks: [entry] }] } };
  const { hooks, problems } = hooksInSettings(settings, {
    runProgram: programs({ env: { ...process.env, ANTHROPIC_API_KEY: "canary" }, guard: groupGuard() }),
    postJson: jsonPoster({ allowHosts: [] }),
    cwd: folder,
    projectRoot: folder,
    rates: { taken: new Map(), now: () => 0 },
    env: { ...env },
  });
  const fire = hookFirer({ hooks, transcript: async () => "/log" });
  const notices: LiveEvent[] = [];
  const runs: LiveEvent[] = [];
  const context = {
    session: "s",
    cwd: folder,
    permissionMode: "default",
    inputId: undefined,
    hookMs: 5_000,
    clock: nodeClock(),
    signal: new AbortController().signal,
    show: (shown: LiveEvent) => void (shown.type === "notice.raised" ? notices : runs).push(shown),
    newId: () => "hook",
  };
  return {
    problems,
    notices,
    runs,
    run: (moment: HookMoment = asked) => fire(moment, context),
  };
}

const asked: HookMoment = {
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command: "ls" },
  tool_use_id: "c1",
};
const command = (text: string, more: object = {}): Entry => ({ type: "command", command: text, ...more });
const says = (output: object): string => `echo '${JSON.stringify(output)}'`;

describe("a command hook", () => {
  test("reads what happens on its input, and its answer counts", async () => {
    verifies("S2.40");
    const output = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } };
    const { run, notices } = fired(command(`cat > seen.json; ${says(output)}`));
    expect(await run()).toMatchObject({ verdict: "ask" });
    const seen: unknown = JSON.parse(readFileSync(path.join(folder, "seen.json"), "utf8"));
    expect(seen).toMatchObject({ ...asked, session_id: "s", cwd: folder, transcript_path: "/log" });
    expect(notices).toEqual([]);
  });

  test("with arguments is a program: no shell reads them", async () => {
    const { run } = fired(command("touch", { args: ["a b; $(touch wrong)"] }));
    await run();
    expect(existsSync(path.join(folder, "a b; $(touch wrong)"))).toBe(true);
    expect(existsSync(path.join(folder, "wrong"))).toBe(false);
  });

  test("gives plain words as context where words can be context, and only there", async () => {
    verifies("S2.41");
    const prompt: HookMoment = { hook_event_name: "UserPromptSubmit", prompt: "hi" };
    expect((await fired(command("echo hello"), { event: "UserPromptSubmit" }).run(prompt)).context).toEqual([
      "hello",
    ]);
    expect((await fired(command("echo hello")).run()).context).toEqual([]);
  });

  test("that nobody waits for has no opinion, and still runs", async () => {
    verifies("S2.38");
    const { run } = fired(
      command("cat > /dev/null; sleep 0.1; echo late > late.txt; exit 2", { async: true }),
    );
    expect((await run()).verdict).toBeUndefined();
    await expect.poll(() => existsSync(path.join(folder, "late.txt"))).toBe(true);
  });

  test("that says in its first line that it goes on is left to itself, for as long as it says", async () => {
    verifies("S2.38");
    const going = fired(command(`${says({ async: true })}; sleep 0.3; echo late > went-on.txt`));
    const outcome = await Promise.race([going.run(), pause(250, "late" as const)]);
    expect(outcome).toMatchObject({ context: [] });
    await expect.poll(() => existsSync(path.join(folder, "went-on.txt")), { timeout: 5_000 }).toBe(true);
    const ended = fired(command(`${says({ async: true, asyncTimeout: 0.2 })}; echo $$ > pid; sleep 60`));
    await ended.run();
    await expect.poll(() => existsSync(path.join(folder, "pid"))).toBe(true);
    const pid = Number(readFileSync(path.join(folder, "pid"), "utf8"));
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
  });

  test("is called only for what its `if` means", async () => {
    const meant = async (rule: string, moment: HookMoment = asked) =>
      (await fired(command(says({ decision: "block" }), { if: rule })).run(moment)).verdict === "deny";
    expect(await meant("Bash")).toBe(true);
    expect(await meant("Bash(ls)")).toBe(true);
    expect(await meant("Bash(l*)")).toBe(true);
    expect(await meant("Bash(git:*)")).toBe(false);
    expect(await meant("Edit")).toBe(false);
    expect(await meant("Bash(.s)")).toBe(false);
    const start: HookMoment = { hook_event_name: "SessionStart", source: "startup" };
    expect(await meant("Bash", start)).toBe(false);
  });

  test("tells who wants to know when it starts and what it said", async () => {
    verifies("S2.18");
    const { run, runs } = fired(command("echo one; echo two >&2; exit 3"));
    await run();
    expect(runs).toMatchObject([
      { type: "hook.started", event: "PreToolUse", hookId: "hook" },
      { type: "hook.finished", outcome: "error", stdout: "one\n", stderr: "two\n", exitCode: 3 },
    ]);
  });

  test("sees no key of the model", async () => {
    const { run } = fired(command("printenv ANTHROPIC_API_KEY > key.txt || echo none >> key.txt"));
    await run();
    expect(readFileSync(path.join(folder, "key.txt"), "utf8")).toBe("none\n");
  });
});

describe("the ten bad hooks", () => {
  test("1: exit code 2 with words denies in these words", async () => {
    const merged = await fired(command("echo 'not here' >&2; exit 2")).run();
    expect(merged).toMatchObject({ verdict: "deny", reason: "not here" });
  });

  test.each([
    ["2: half a JSON object", 'echo \'{"decision": "bl\'', /looks like JSON/],
    ["3: 100 MB", "head -c 100000000 /dev/zero", /more than/],
    ["4: a failing program", "echo broken >&2; exit 1", /code 1: broken/],
    ["5: a program that is not there", "no-such-program-here", /code 127/],
    ["6: a program that a signal ends", "kill -9 $$", /signal/],
  ])("%s is no opinion, with one notice", async (_kind, text, why) => {
    const { run, notices } = fired(command(text));
    const merged = await run();
    expect(merged.verdict).toBeUndefined();
    expect(notices).toMatchObject([{ level: "warning", code: "hook_failed" }]);
    expect(JSON.stringify(notices)).toMatch(why);
  });

  test("7: one that sleeps is ended at its time, with all that it started", async () => {
    const { run, notices } = fired(command("sleep 60 & echo $! > pid; sleep 60", { timeout: 0.3 }));
    expect((await run()).verdict).toBeUndefined();
    expect(notices).toHaveLength(1);
    const pid = Number(readFileSync(path.join(folder, "pid"), "utf8"));
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
  });

  test("8: one that never reads a large input, and one that closes it, are not waited for", async () => {
    const large: HookMoment = { ...asked, tool_input: { text: "x".repeat(1_000_000) } };
    for (const text of [says({ decision: "block" }), `exec <&-; ${says({ decision: "block" })}`]) {
      const { run, notices } = fired(command(text));
      expect(await run(large)).toMatchObject({ verdict: "deny" });
      expect(notices).toEqual([]);
    }
  });

  test("9: one that forks and returns counts when it returns", async () => {
    const { run } = fired(command(`sleep 3 & ${says({ decision: "block" })}`));
    const outcome = await Promise.race([run(), pause(2_500, "late" as const)]);
    expect(outcome).toMatchObject({ verdict: "deny" });
  });

  test("10: one that answers for another point has no say", async () => {
    const { run, notices } = fired(command(says({ hookSpecificOutput: { hookEventName: "Stop" } })));
    expect((await run()).verdict).toBeUndefined();
    expect(notices).toHaveLength(1);
  });

  test("any of them denies when it is to block on failure", async () => {
    const { run } = fired(command("exit 1", { onFailure: "block" }));
    expect(await run()).toMatchObject({ verdict: "deny" });
  });
});

describe("entries that are none", () => {
  test("are left out and named", () => {
    expect(fired(command("x"), { event: "NoSuchPoint" }).problems).toHaveLength(1);
    expect(fired({ type: "prompt" }).problems).toHaveLength(1);
    expect(fired({ type: "command" }).problems).toHaveLength(1);
    expect(fired({ type: "http" }).problems).toHaveLength(1);
  });
});

describe("a hook over HTTP", () => {
  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  test("is told what happens, with the headers that its entry may fill", async () => {
    let seen = "";
    let token: string | undefined;
    const url = await serve(async (request, response) => {
      for await (const chunk of request) seen += chunk;
      token = request.headers["x-token"] as string;
      response.end(JSON.stringify({ decision: "block", reason: "no" }));
    });
    const headers = { "x-token": "$TOKEN-$SECRET" };
    const entry = { type: "http", url, headers, allowedEnvVars: ["TOKEN"] };
    const { run } = fired(entry, { env: { TOKEN: "t", SECRET: "canary" } });
    expect(await run()).toMatchObject({ verdict: "deny", reason: "no" });
    expect(JSON.parse(seen)).toMatchObject(asked);
    expect(token).toBe("t-");
  });

  test.each([
    ["fails", 500, "{}"],
    ["leads elsewhere", 302, "{}"],
    ["talks", 200, "hello"],
    ["sends too much", 200, "x".repeat(1_100_000)],
  ])("that %s has no opinion", async (_how, status, body) => {
    const url = await serve((_, response) => {
      response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(body);
    });
    const { run, notices } = fired({ type: "http", url });
    expect((await run()).verdict).toBeUndefined();
    expect(notices).toHaveLength(1);
  });

  test.each([
    "http://example.com/",
    "http://10.0.0.1/",
    "https://169.254.169.254/",
    "file:///etc/passwd",
    "x",
  ])("is never sent to %s", async (url) => {
    const { run, notices } = fired({ type: "http", url });
    await run();
    expect(notices).toHaveLength(1);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
