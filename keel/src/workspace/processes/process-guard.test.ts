import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { bothGuards, needsGuard } from "../../../../test/support/real-guard.ts";
import { plainEnvironment, realShell } from "../../../../test/support/real-shell.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { describeProcessGuard, openProcessGuard, sayProcessGuard } from "./process-guard.ts";
import { nodeShell } from "./shell.ts";

describe.each(bothGuards())("what a command %s leaves behind", (name, guard) => {
  const room = realShell(guard);
  beforeEach(() => needsGuard(name, guard));

  test.each([
    ["with &", "sleep 30 &"],
    ["with nohup", "nohup sleep 30 > /dev/null 2>&1 &"],
    ["in a session of its own", "setsid -f sleep 30"],
    ["by a double fork", "( (sleep 30 &) & )"],
  ])("%s is known and can be stopped", async (_, text) => {
    const run = await room.start(`${text}\necho started`);
    expect(await run.over).toMatchObject({ exitCode: 0, output: expect.stringContaining("started\n") });
    expect(run.left()?.processes).toBeGreaterThan(0);
    expect(room.processes()).not.toEqual([]);
    await run.left()?.stop();
    expect(room.processes()).toEqual([]);
    expect(await run.left()?.over).toBeUndefined();
  });

  test("is over when its last process is, and what it writes goes into a file", async () => {
    const wait = (file: string) => `until [ -e ${file} ]; do sleep 0.02; done`;
    const run = await room.start(`(${wait("two")}; echo late) & (${wait("one")}; echo later) & echo now`);
    expect((await run.over).output).toBe("now\n");
    const left = run.left();
    left?.saveTo(path.join(room.cwd, "left.txt"));
    let isOver = false;
    void left?.over.then(() => {
      isOver = true;
    });
    writeFileSync(path.join(room.cwd, "one"), "");
    await until(() => left?.output() === "later\n");
    expect(isOver).toBe(false);
    writeFileSync(path.join(room.cwd, "two"), "");
    await until(() => isOver);
    expect(isOver).toBe(true);
    expect(readFileSync(path.join(room.cwd, "left.txt"), "utf8")).toBe("later\nlate\n");
    expect(left?.output()).toBe("later\nlate\n");
  });

  test("loses none of its last words, however busy Keel was when they came", async () => {
    const run = await room.start("(until [ -e go ]; do sleep 0.02; done; echo last words) & echo now");
    await run.over;
    const left = run.left();
    writeFileSync(path.join(room.cwd, "go"), "");
    const busyUntil = performance.now() + 200;
    while (performance.now() < busyUntil);
    await left?.over;
    expect(left?.output()).toBe("last words\n");
  });

  test("is nothing when all have ended", async () => {
    for (const text of ["sleep 0.01 & wait", "true | cat", "exec true"]) {
      const run = await room.start(text);
      await run.over;
      expect(run.left()).toBeUndefined();
    }
  });

  test("is nothing when the command was stopped: all of it is gone", async () => {
    const run = await room.start("setsid sleep 30 & sleep 30");
    await pause(100);
    await run.stop();
    expect(await run.over).toMatchObject({ interrupted: true });
    expect(run.left()).toBeUndefined();
    expect(room.processes()).toEqual([]);
  });

  test("is reached from the next command: a server goes on to serve", async () => {
    verifies("G9");
    const server = `require("node:net").createServer((link) => link.end("hello\\n")).listen(0, "127.0.0.1", function () {
      require("node:fs").writeFileSync("port", String(this.address().port)); })`;
    await room.run(`'${process.execPath}' -e '${server}' & until [ -s port ]; do sleep 0.02; done`);
    expect((await room.run("cat < /dev/tcp/127.0.0.1/$(cat port)")).output).toBe("hello\n");
  });
});

describe("a namespace", () => {
  const guard = openProcessGuard({ env: plainEnvironment });
  const room = realShell(guard);
  beforeEach(() => needsGuard("in a namespace", guard));

  test("shows a command only its own processes and those of its sisters, with numbers that are true inside", async () => {
    await room.run("sleep 30 & echo $! > pid");
    const { output } = await room.run('kill -0 "$(cat pid)" && echo there; ps -eo args=; kill "$(cat pid)"');
    expect(output).toMatch(/^there\n/);
    expect(output).toContain("sleep 30\n");
    expect(output).not.toContain("vitest");
  });

  test("is not ended from the inside", async () => {
    const first = '[ "$(ps -o args= 1 | grep -c "echo ready")" = 1 ] || exit 9';
    const signals = "for signal in HUP INT TERM QUIT USR1 PIPE KILL STOP; do kill -$signal 1 2; done";
    const outcome = await room.run(
      `${first}; ${signals}; sleep 0.1; (sleep 0.01 &); sleep 0.1; ps -eo stat=`,
    );
    expect(outcome.exitCode).toBe(0);
    // Orphans are fetched: there is nobody dead among them.
    expect(outcome.output).not.toContain("Z");
    expect((await room.run("echo still here")).output).toBe("still here\n");
  });

  test("that somebody ends takes its commands with it, and the next command has another", async () => {
    const run = await room.start("echo begun; sleep 30");
    for await (const chunk of run.follow()) if (chunk.text.includes("begun")) break;
    await guard.close();
    expect(await run.over).toMatchObject({ exitCode: null, signal: "SIGKILL", interrupted: false });
    expect((await room.run("echo again")).output).toBe("again\n");
  });

  test("is where a command is: folder, user, files and mounts are those outside", async () => {
    const plain = nodeShell({ env: plainEnvironment });
    const look =
      "pwd; id; umask; ls -ld . /etc; findmnt -rno TARGET / ; ulimit -a; env | grep -v KEEL_ | sort";
    expect((await room.run(look)).output).toBe((await room.run(look, { shell: plain })).output);
  });
});

describe("where no namespace can be made", () => {
  test("the reason is told, and what still serves", async () => {
    const off = await describeProcessGuard({ env: plainEnvironment, wish: "off" });
    expect(off).toEqual({ kind: "sweep", why: "it is turned off" });
    expect(sayProcessGuard(off)).toContain("turned off");
    const nothing = await describeProcessGuard({ env: { PATH: "/nowhere" } });
    expect(nothing).toMatchObject({ kind: "group", why: expect.stringContaining("not installed") });
    expect(sayProcessGuard(nothing)).toContain("process group only");
  });
});

async function until(holds: () => boolean): Promise<void> {
  const endsAt = performance.now() + 8_000;
  while (!holds() && performance.now() < endsAt) await pause(10);
}
