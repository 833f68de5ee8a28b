// What a person sets up to watch sessions: limits of a rate, alarms about money, and a record of who decided what.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { AuditFile, readAudit } from "../keel/src/app/audit/audit-file.ts";
import { keepKey } from "../keel/src/app/maintenance/keys.ts";
import { writeRule, writeValue } from "../keel/src/app/maintenance/settings-files.ts";
import type { OpenSession } from "../keel/src/app/open-session.ts";
import { byPosition, reply, replyWith, toolUse } from "../keel/src/testing/reply.ts";
import { say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

/** Costs a dollar and a half at fifteen dollars for a million tokens. */
const dear = replyWith({ usage: { inputTokens: 0, outputTokens: 100_000 } }, "Done.");

const noticesOf = (session: OpenSession): string[] => {
  const told: string[] = [];
  session.onEvent((event) => {
    if (event.type === "notice.raised" && event.code === "cost_alarm") told.push(event.text);
  });
  return told;
};

async function turn(session: OpenSession, words: string): Promise<void> {
  await say(session, words);
  await session.idle();
}

describe("hooks before a tool", () => {
  test("a check of permission and a limit of the rate refuse what they do not let through, over all sessions", async () => {
    verifies("S1.25", "S1.38");
    const read = toolUse("Read", { file_path: "there.txt" });
    const script = byPosition([reply(read), reply(read, toolUse("Glob", { pattern: "*" })), reply("Done.")]);
    const { home, cwd, options } = await scriptedHome(script, {
      settings: {
        hooks: {
          PreToolUse: [
            { matcher: "Read", hooks: [{ type: "rate", most: 3, seconds: 3_600 }] },
            {
              matcher: "Glob",
              hooks: [{ type: "command", command: "echo 'No lists here.' >&2; exit 2" }],
            },
          ],
          UserPromptSubmit: [{ hooks: [{ type: "rate", most: 2, seconds: 3_600 }] }],
        },
      },
    });
    writeFileSync(path.join(cwd, "there.txt"), "words\n");
    const results: string[] = [];
    const dropped: string[] = [];
    const open = async (): Promise<OpenSession> => {
      const session = await home.open(options);
      session.onEvent((event) => {
        if (event.type === "tool.finished")
          results.push(`${event.tool} ${event.denied?.by ?? "ran"} ${event.denied?.reason ?? ""}`.trim());
        if (event.type === "input.dropped") dropped.push(event.reason ?? "");
      });
      return session;
    };
    const [first, second] = [await open(), await open()];
    await turn(first, "one");
    await turn(second, "two");
    expect(results.toSorted()).toEqual([
      "Glob hook No lists here.",
      "Glob hook No lists here.",
      expect.stringMatching(/^Read hook The limit of 3 calls of Read in 3600 s is reached\. The next one/),
      "Read ran",
      "Read ran",
      "Read ran",
    ]);
    await turn(first, "three");
    expect(dropped).toEqual([expect.stringContaining("The limit of 2 requests in 3600 s is reached.")]);
  });
});

describe("alarms about money", () => {
  test("each sum is told once, by a notice and to hooks, over sessions, processes and restarts; nothing is stopped", async () => {
    verifies("S1.38");
    const stage = await scriptedHome(() => dear, {
      settings: {
        costAlarms: { sessionUsd: [1, 2, 100], dayUsd: 4, monthUsd: [4, 5] },
        hooks: {
          Notification: [{ matcher: "cost_alarm", hooks: [{ type: "command", command: "cat >> told" }] }],
        },
      },
    });
    const first = await stage.home.open(stage.options);
    const told = noticesOf(first);
    await turn(first, "one");
    expect(told).toEqual(["This session has cost $1.50: your alarm for a session is $1.00."]);
    await turn(first, "two");
    expect(told.slice(1)).toEqual(["This session has cost $3.00: your alarm for a session is $2.00."]);
    await stage.home.close();

    // As another process: the session goes on, and neither of its alarms is told again.
    const home = stage.reopen();
    const again = await home.open({
      ...stage.options,
      which: { kind: "resume", from: { session: first.id } },
    });
    const later = noticesOf(again);
    await turn(again, "three");
    const day = new Date().toISOString().slice(0, 10);
    expect(later).toEqual([
      `Today (${day}, UTC) has cost $4.50: your alarm for a day is $4.00.`,
      `This month (${day.slice(0, 7)}, UTC) has cost $4.50: your alarm for a month is $4.00.`,
    ]);
    const other = await home.open(stage.options);
    const others = noticesOf(other);
    await turn(other, "four");
    expect(others).toEqual([
      "This session has cost $1.50: your alarm for a session is $1.00.",
      `This month (${day.slice(0, 7)}, UTC) has cost $6.00: your alarm for a month is $5.00.`,
    ]);
    expect((await Array.fromAsync(other.history())).at(-1)).toMatchObject({ reason: "completed" });
    const hooked = readFileSync(path.join(stage.cwd, "told"), "utf8").trim().split("\n");
    expect(hooked.map((line) => JSON.parse(line).notification_type)).toEqual(Array(6).fill("cost_alarm"));
  });

  test("nothing is made or told where nobody has set a sum", async () => {
    const stage = await scriptedHome(() => dear);
    const session = await stage.home.open(stage.options);
    const told = noticesOf(session);
    await turn(session, "one");
    expect(told).toEqual([]);
    expect(readdirSync(stage.home.path)).not.toContain("alarms");
    expect(readdirSync(stage.home.path)).not.toContain("audit");
  });
});

describe("the audit log", () => {
  test("has who decided what, in private lines, and no key and no input", async () => {
    verifies("S1.38");
    const secret = "sk-ant-canary-0123456789";
    const write = (name: string) => toolUse("Write", { file_path: name, content: "the words of the file" });
    const stage = await scriptedHome(
      byPosition([
        reply(write("a.txt")),
        reply(toolUse("Bash", { command: `touch ${secret}` })),
        reply(toolUse("WebFetch", { url: "https://example.org", prompt: "x" })),
        reply("Done."),
      ]),
      {
        settings: { audit: { enabled: true }, permissions: { deny: ["Bash(touch:*)"] } },
        env: { ANTHROPIC_API_KEY: secret },
      },
    );
    const session = await stage.home.open(stage.options);
    session.onEvent((event) => {
      if (event.type !== "ask.opened") return;
      const answer =
        event.ask.tool === "Write"
          ? { verdict: "allow" as const, rules: ["Write(a.txt)"] }
          : { verdict: "deny" as const, reason: `Not with ${secret}.` };
      void session.submit({ type: "answer", askId: event.ask.id, answer });
    });
    await turn(session, "go");
    await session.submit({ type: "set", patch: { permissionMode: "plan" } });
    await session.close("ended");
    const place = { env: stage.env, cwd: stage.cwd };
    await writeRule(place, "user", { list: "ask", rule: "Bash(rm:*)" });
    await writeValue(place, "user", { path: ["providers", "openai", "key"], value: "another-secret-key" });
    await keepKey(place, { provider: "openai", key: "sk-third-secret-0000", in: "file" });

    const file = path.join(stage.home.path, "audit", "audit.jsonl");
    const written = readFileSync(file, "utf8");
    for (const hidden of [secret, "another-secret-key", "sk-third-secret", "the words of the file"])
      expect(written).not.toContain(hidden);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const entries = await Array.fromAsync(readAudit(stage.home.path));
    const short = entries.map(({ what, tool, outcome, by, rule }) =>
      [what, tool, outcome, by, rule].filter((word) => word !== undefined).join(" "),
    );
    expect(short).toEqual([
      "session.opened",
      "key.used ANTHROPIC_API_KEY",
      "ask.opened Write asked",
      "ask.closed allowed host Write(a.txt)",
      "call.started Write allowed host",
      "call.finished Write done",
      "call.finished Bash denied rule Bash(touch:*)",
      "ask.opened WebFetch asked",
      "ask.closed denied host",
      "call.finished WebFetch denied host",
      "settings.changed host",
      "session.closed",
      "settings.changed person Bash(rm:*)",
      "settings.changed person",
      "key.changed kept person",
    ]);
    expect(entries.slice(0, 12).every((entry) => entry.session === session.id)).toBe(true);
    expect(entries.at(10)).toMatchObject({ changed: { permissionMode: "plan" }, project: stage.cwd });
    expect(entries.at(8)).toMatchObject({ reason: "Not with [hidden]." });
    // Each stands where its event stands.
    const log = await Array.fromAsync(stage.reopen().sessions.read(session.id));
    expect(log.find(({ seq }) => seq === entries.at(6)?.seq)).toMatchObject({
      type: "tool.finished",
      tool: "Bash",
    });
  });

  test("turns its file over when it is large, loses no line to other writers, and keeps so many", async () => {
    const { home } = await scriptedHome(() => reply("no"));
    const entry = (number: number) => ({
      at: new Date(1_760_000_000_000 + number).toISOString(),
      what: "session.closed" as const,
      reason: `number ${number} ${"x".repeat(60)}`,
    });
    const limits = { maxBytes: 500, files: 100 };
    const [one, other] = [new AuditFile(home.path, limits, []), new AuditFile(home.path, limits, [])];
    for (let number = 0; number < 40; number++) (number % 2 ? one : other).append(entry(number));
    const numbers = async () =>
      (await Array.fromAsync(readAudit(home.path))).map(({ reason }) => Number(reason?.split(" ")[1]));
    expect(await numbers()).toEqual(Array.from({ length: 40 }, (_, number) => number));
    const place = path.join(home.path, "audit");
    expect(readdirSync(place).length).toBeGreaterThan(5);
    for (const name of readdirSync(place)) expect(statSync(path.join(place, name)).mode & 0o777).toBe(0o600);
    const small = new AuditFile(home.path, { maxBytes: 500, files: 2 }, []);
    for (let number = 40; number < 50; number++) small.append(entry(number));
    expect(readdirSync(place).length).toBe(3);
    expect((await numbers()).at(-1)).toBe(49);
  });

  test("that cannot be written is told once, and the session goes on", async () => {
    const stage = await scriptedHome(() => reply("Done."), { settings: { audit: { enabled: true } } });
    // A file where its folder should be.
    writeFileSync(path.join(stage.home.path, "audit"), "");
    const session = await stage.home.open(stage.options);
    const told: string[] = [];
    session.onEvent((event) => {
      if (event.type === "notice.raised" && event.code === "audit") told.push(event.text);
    });
    await turn(session, "go");
    await session.submit({ type: "set", patch: { permissionMode: "plan" } });
    expect((await Array.fromAsync(session.history())).map(({ type }) => type)).toContain("turn.finished");
    expect(told).toEqual([expect.stringMatching(/^The audit log cannot be written: /)]);
  });
});
