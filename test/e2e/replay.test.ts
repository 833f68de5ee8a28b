// `keel replay` on sessions of the built command: nothing is sent, nothing is started, and what differs is named.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { launcher } from "./command.ts";
import { openStage, type Stage } from "./stage.ts";

const script = {
  replies: [
    reply("One moment.", toolUse("Glob", { pattern: "*" })),
    reply("And this.", toolUse("Read", { file_path: "a.txt" })),
    reply("Nothing there."),
  ],
};

const strace = "/usr/bin/strace";
const looked =
  "connect,bind,listen,sendto,sendmsg,execve,fork,vfork,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,utimensat,chmod,fchmodat";

/** What a run of the command asked the kernel for: programs by their paths, addresses, and files that it changed. */
async function traced(stage: Stage, words: readonly string[]) {
  const file = path.join(stage.project, "..", "calls.txt");
  const options = ["-f", "-qq", "-y", "-s", "400", "-e", `trace=${looked}`, "-o", file];
  const how = { cwd: stage.project, env: stage.env };
  // How it ends is no matter here.
  await promisify(execFile)(strace, [...options, launcher, ...words], how).catch(() => undefined);
  const calls = readFileSync(file, "utf8").split("\n");
  const started = calls.filter((line) => /execve\(.*\) = 0/.test(line));
  const named = calls.flatMap((line) => {
    const [, call, given = ""] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    if (call === undefined || given.includes(" = -1 ")) return [];
    const isChange = call.startsWith("open") ? /O_WRONLY|O_RDWR|O_CREAT/.test(given) : !quiet.test(call);
    return isChange ? [/"([^"]*)"/.exec(given)?.[1] ?? given] : [];
  });
  return {
    started: new Set(started.map((line) => line.split(" ")[0])).size,
    sockets: calls.filter((line) => /AF_INET|AF_UNIX/.test(line)),
    writes: [...new Set(named.filter((place) => !place.startsWith("/dev/")))].map((place) =>
      path.resolve(stage.project, place),
    ),
  };
}

/** Those that change no file. */
const quiet = /^(?:connect|bind|listen|send|exec|v?fork)/;

async function recorded(): Promise<{ stage: Stage; id: string }> {
  const stage = await openStage(script);
  writeFileSync(path.join(stage.project, "a.txt"), "one\n");
  expect(await stage.run(["-p", "list it"])).toMatchObject({ code: 0 });
  const [session] = JSON.parse((await stage.run(["sessions", "list", "--json"])).stdout);
  return { stage, id: session.id };
}

describe("keel replay", () => {
  test("finds every request of a session as it was sent, and asks nobody", async () => {
    verifies("P29");
    const { stage, id } = await recorded();
    const asked = stage.server.requests.length;
    expect(asked).toBe(3);
    const { code, stdout } = await stage.run(["replay", id, "--json"]);
    const [log] = JSON.parse(stdout);
    expect(log).toMatchObject({ requests: 3, equalRequests: 3, lacks: [], problems: [] });
    expect(log.difference).toBeUndefined();
    expect(log.bill.todayUsd).toBeCloseTo(log.bill.recordedUsd, 10);
    expect(code).toBe(0);
    expect(stage.server.requests).toHaveLength(asked);
  });

  test("opens no socket, starts no process and writes nothing, as the kernel sees it", async () => {
    verifies("P29");
    if (!existsSync(strace)) return notRunHere("strace", "strace absent");
    const { stage, id } = await recorded();
    const seen = await traced(stage, ["replay", id]);
    // The launcher becomes Node; behind that nothing is started.
    expect(seen.started).toBe(1);
    expect(seen.sockets).toEqual([]);
    expect(seen.writes).toEqual([]);
    // The same look sees what is there to be seen: a report is written where it is wanted, and nowhere else.
    mkdirSync(path.join(stage.project, "logs"));
    await stage.run(["sessions", "export", id, "-o", path.join(stage.project, "logs/one.jsonl")]);
    const checked = await traced(stage, ["replay", "--check", "logs", "--junit", "out.xml"]);
    expect(checked).toEqual({
      started: 1,
      sockets: [],
      writes: [path.join(stage.project, "out.xml")],
    });
    // And what does go out: a session that is sent to a collector.
    const sent = await traced(stage, ["trace", id, "--send", "http://127.0.0.1:9"]);
    expect(sent.sockets.join("\n")).toContain("127.0.0.1");
  });

  test("names another prompt at the first request, with its part of the bill, for CI too", async () => {
    const { stage, id } = await recorded();
    writeFileSync(path.join(stage.project, "prompt.md"), "You do nothing.");
    const logs = path.join(stage.project, "logs");
    mkdirSync(logs);
    await stage.run(["sessions", "export", id, "-o", path.join(logs, "one.jsonl")]);
    const tried = await stage.run([
      "replay",
      "--check",
      "logs",
      "--prompt",
      "prompt.md",
      "--junit",
      "out.xml",
    ]);
    expect(tried.code).toBe(1);
    expect(tried.stdout).toContain("request 1: prompt: part 1 of the system prompt");
    expect(tried.stdout).toContain("today:    You do nothing.");
    expect(tried.stdout).toMatch(/the bill: .* then, about .* today \(-/);
    const xml = readFileSync(path.join(stage.project, "out.xml"), "utf8");
    expect(xml).toContain('tests="1" failures="1"');
    expect(xml).toContain("part 1 of the system prompt");
    expect((await stage.run(["replay", "--check", "logs"])).code).toBe(0);
  });

  test("says that a log is damaged, and goes on with the others", async () => {
    const { stage, id } = await recorded();
    const logs = path.join(stage.project, "logs");
    mkdirSync(logs);
    await stage.run(["sessions", "export", id, "-o", path.join(logs, "one.jsonl")]);
    const whole = readFileSync(path.join(logs, "one.jsonl"));
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)] = (flipped[Math.floor(whole.length / 2)] ?? 0) ^ 1;
    writeFileSync(path.join(logs, "two.jsonl"), flipped);
    const { code, stdout } = await stage.run(["replay", "--check", "logs"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^equal {2}one\.jsonl/m);
    expect(stdout).toMatch(/^differs {2}two\.jsonl/m);
    expect(stdout).toContain("damaged:");
  });
});
