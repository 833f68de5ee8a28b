import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { beforeEach, describe, expect, test } from "vitest";
import { bothGuards, needsGuard } from "../../../../test/support/real-guard.ts";
import { plainEnvironment, realShell } from "../../../../test/support/real-shell.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { markVariable } from "./environment.ts";
import { nodeShell } from "./shell.ts";

describe.each(bothGuards())("a command %s", (name, guard) => {
  const room = realShell(guard);
  beforeEach(() => needsGuard(name, guard));

  test("tells its exit code, its signal, and both streams in the order in which they were written", async () => {
    const outcome = await room.run("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 7");
    expect(outcome).toMatchObject({
      exitCode: 7,
      signal: null,
      timedOut: false,
      interrupted: false,
      omittedBytes: 0,
    });
    expect(outcome.output).toBe("out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    expect(await room.run("kill -SEGV $$")).toMatchObject({ exitCode: null, signal: "SIGSEGV" });
  });

  test("has no input, no terminal, its own process group and no open files of ours", async () => {
    const outcome = await room.run(
      'cat; tty; [ "$(ps -o pgid= $$ | tr -d " ")" = $$ ] && echo leader; ls -l /proc/$$/fd; true',
    );
    expect(outcome.output).toContain("not a tty\nleader\n");
    const descriptors = [...outcome.output.matchAll(/(\d+) -> (\S+)/g)].map(
      (match) => `${match[1]} ${match[2]}`,
    );
    expect(descriptors.map((line) => line.split(" ")[0])).toEqual(["0", "1", "2"]);
    expect(descriptors[0]).toBe("0 /dev/null");
  });

  test("can open its own output by name, as in a terminal", async () => {
    expect((await room.run("echo a > /dev/stderr; echo b | tee /dev/stdout")).output).toBe("a\nb\nb\n");
  });

  test("sees the user's environment without the harness's own keys, and with a mark", async () => {
    const keys = {
      ANTHROPIC_API_KEY: "canary-1",
      ANTHROPIC_BASE_URL: "http://canary-2",
      OPENAI_API_KEY: "canary-3",
      KEEL_MODEL: "canary-4",
      EDITOR: "ed",
    };
    const { output } = await room.run("env", {
      shell: nodeShell({ env: { ...plainEnvironment, ...keys }, guard }),
    });
    expect(output).not.toContain("canary");
    expect(output).toContain("EDITOR=ed\n");
    expect(output).toMatch(new RegExp(`^${markVariable}=[0-9a-f]{16}\\.[0-9]+$`, "m"));
  });

  test("shows what it writes while it runs", async () => {
    const { chunks, output } = await room.run("echo first; sleep 0.2; echo second");
    expect(chunks).toEqual(["first\n", "second\n"]);
    expect(output).toBe("first\nsecond\n");
  });

  test("is not shown oftener than a screen can follow", async () => {
    const { chunks } = await room.run("for i in $(seq 40); do echo $i; sleep 0.01; done");
    expect(chunks.join("")).toBe(Array.from({ length: 40 }, (_, index) => `${index + 1}\n`).join(""));
    expect(chunks.length).toBeLessThan(20);
  });

  test("may write what is not text", async () => {
    verifies("G11");
    const { output } = await room.run("printf 'a\\0b\\377c\\033[1md\\n'");
    expect(output).toBe("a␀b\ufffdc\u001b[1md\n");
    const noise = await room.run("head -c 300000 /dev/urandom", { maxBytes: 4_000 });
    expect(noise).toMatchObject({ exitCode: 0 });
    expect(noise.omittedBytes).toBeGreaterThan(295_000);
  });

  test("keeps characters whole that arrive in two parts", async () => {
    const { chunks, output } = await room.run("printf '\\303'; sleep 0.15; printf '\\244\\n'");
    expect(output).toBe("ä\n");
    expect(chunks.join("")).toBe("ä\n");
  });
});

describe("what cannot be started is an outcome", () => {
  const room = realShell();

  test("a directory that is not there", async () => {
    fs.rmSync(room.cwd, { recursive: true });
    expect(await room.run("true")).toMatchObject({
      exitCode: 126,
      output: `The directory ${room.cwd} does not exist.`,
    });
  });

  test("a command that is longer than the system takes", async () => {
    const outcome = await room.run(`: ${"x".repeat(3_000_000)}`);
    expect(outcome).toMatchObject({ exitCode: 126, output: expect.stringContaining("too long") });
  });

  test("no shell at all; and where bash is absent, sh serves", async () => {
    const none = nodeShell({ env: { PATH: room.cwd } });
    expect(await room.run("true", { shell: none })).toMatchObject({
      exitCode: 127,
      output: expect.stringContaining("no shell"),
    });
    fs.symlinkSync(execFileSync("which", ["sh"], { encoding: "utf8" }).trim(), path.join(room.cwd, "sh"));
    expect(await room.run("echo $0", { shell: none })).toMatchObject({ exitCode: 0, output: "sh\n" });
  });

  test("where no pipe can be made, sockets serve", async () => {
    const socketed = nodeShell({ env: plainEnvironment, openPipe: async () => undefined });
    const outcome = await room.run("echo out; sleep 0.1; echo err >&2; sleep 30 & exit 4", {
      shell: socketed,
    });
    expect(outcome).toMatchObject({ exitCode: 4, output: "out\nerr\n" });
  });

  test("nothing starts when it is interrupted before its start", async () => {
    const outcome = await room.run("touch ran", { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ exitCode: null, interrupted: true });
    expect(fs.readdirSync(room.cwd)).toEqual([]);
  });
});

describe("output without end", () => {
  const room = realShell();

  test("is bounded: head and tail stay, memory does not grow, others get their turn", {
    timeout: 15_000,
  }, async () => {
    verifies("G11", "G20");
    const before = process.memoryUsage().rss;
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const outcome = await room.run("echo the head; timeout 1 yes abcdefg; echo the tail", {
      maxBytes: 200_000,
    });
    delay.disable();
    // 50 ms on a machine that does nothing else: the long suite of floods holds it to that.
    expect(delay.percentile(99) / 1e6).toBeLessThan(500);
    const grownMb = (process.memoryUsage().rss - before) / 1e6;
    expect(outcome.output.startsWith("the head\nabcdefg\n")).toBe(true);
    expect(outcome.output.endsWith("abcdefg\nthe tail\n")).toBe(true);
    expect(outcome.output).toContain(`[… ${outcome.omittedBytes} bytes left out …]`);
    expect(outcome.output.length).toBeLessThan(200_100);
    expect(outcome.omittedBytes).toBeGreaterThan(10_000_000);
    expect(Math.max(...outcome.chunks.map((chunk) => chunk.length))).toBeLessThan(20_000);
    expect(grownMb).toBeLessThan(64);
  });

  test("of a command that is alone is read as fast as it comes", { timeout: 60_000 }, async () => {
    const before = performance.now();
    const outcome = await room.run("yes | head -c 800M", { maxBytes: 10_000, timeoutMs: 50_000 });
    // At a walk it takes half a minute.
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(outcome).toMatchObject({ exitCode: 0, timedOut: false });
    expect(outcome.omittedBytes).toBeGreaterThan(800 * 2 ** 20 - 20_000);
  });

  test("is bounded on sockets too, and a chunk says that it is not all", { timeout: 15_000 }, async () => {
    const socketed = nodeShell({ env: plainEnvironment, openPipe: async () => undefined });
    const outcome = await room.run("timeout 0.5 yes; true", { maxBytes: 1_000, shell: socketed });
    expect(outcome.omittedBytes).toBeGreaterThan(1_000_000);
    expect(outcome.chunks.some((chunk) => chunk.startsWith("[…]\n"))).toBe(true);
  });
});
