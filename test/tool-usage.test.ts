// Every call of a tool is counted from the logs, with both stores, also after the tables were deleted.
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../keel/src/testing/reply.ts";
import { reportOn, sayTools } from "../keel/src/view/tool-report.ts";
import { say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

test.each(["jsonl", "sqlite"])(
  "calls of a session and its agents are counted once, with %s and without what was cached",
  async (kind) => {
    verifies("S1.26");
    const there = { file_path: "there.txt" };
    const own = byPosition([
      reply(toolUse("Read", there), toolUse("Read", { file_path: "missing.txt" })),
      reply(toolUse("Bash", { command: "touch made" })),
      reply(toolUse("Agent", { description: "look", prompt: "Look.", run_in_background: false })),
      reply("Done."),
    ]);
    const agents = byPosition([reply(toolUse("Read", there)), reply("Seen.")]);
    const { home, reopen, cwd, options } = await scriptedHome(
      (request, asked) => (JSON.stringify(request).includes("START") ? own : agents)(request, asked),
      { env: { KEEL_STORE: kind } },
    );
    writeFileSync(path.join(cwd, "there.txt"), "words\n");
    const session = await home.open(options);
    session.onEvent((event) => {
      if (event.type !== "ask.opened") return;
      const verdict = event.ask.tool === "Bash" ? "deny" : "allow";
      void session.submit({ type: "answer", askId: event.ask.id, answer: { verdict } });
    });
    const began = Date.now();
    await say(session, "START");
    await session.idle();
    const tables = await home.conversations();
    const calls = await tables.calls({});
    expect(calls.map(({ tool, outcome }) => [tool, outcome]).toSorted()).toEqual([
      ["Agent", "done"],
      ["Bash", "denied"],
      ["Read", "done"],
      ["Read", "done"],
      ["Read", "failed"],
    ]);
    const read = calls.find(({ tool, outcome }) => tool === "Read" && outcome === "done");
    expect(read).toMatchObject({
      session: session.id,
      cwd,
      by: "read-only",
      inputBytes: JSON.stringify(there).length,
    });
    expect(read?.at).toBeGreaterThanOrEqual(began);
    expect(await tables.calls({ since: Date.now() + 60_000 })).toEqual([]);
    expect(await tables.calls({ cwd: "/elsewhere" })).toEqual([]);
    expect(await tables.calls({ id: session.id })).toHaveLength(5);
    const spent = await tables.spent(0);
    expect(spent).toBeCloseTo(session.bill().costUsd, 10);
    expect(spent).toBeGreaterThan(0);
    await home.close();

    for (const end of ["", "-wal", "-shm"]) await rm(`${home.path}/conversations.db${end}`, { force: true });
    const again = await reopen().conversations();
    expect(await again.calls({})).toEqual(calls);
    expect(await again.spent(0)).toBeCloseTo(spent, 10);
  },
);

test("the report counts by tool, project and day, with durations that were really there", () => {
  const at = Date.UTC(2026, 10, 16);
  const call = (tool: string, ms: number, more: object = {}) => ({
    tool,
    session: "s",
    cwd: "/one",
    at,
    ms,
    outcome: "done" as const,
    inputBytes: 10,
    ...more,
  });
  const calls = [
    ...Array.from({ length: 20 }, (_, index) => call("Read", index + 1)),
    call("Bash", 0, { outcome: "denied", cwd: "/two", session: "t" }),
    call("Bash", 4_000, { outcome: "failed", at: at + 24 * 60 * 60_000 }),
    call("constructor", 5, { outcome: "interrupted" }),
  ];
  const report = reportOn(calls);
  expect(report).toMatchObject({
    sessions: 2,
    totals: { calls: 23, failed: 1, denied: 1, interrupted: 1, inputBytes: 230 },
    projects: { "/one": { calls: 22 }, "/two": { calls: 1, denied: 1, p95Ms: 0 } },
    days: { "2026-11-16": { calls: 22 }, "2026-11-17": { calls: 1 } },
  });
  expect(Object.entries(report.tools).map(([name, row]) => [name, row.calls, row.p50Ms, row.p95Ms])).toEqual([
    ["Read", 20, 10, 19],
    // What was refused took no time, and is none that ran.
    ["Bash", 2, 4_000, 4_000],
    ["constructor", 1, 5, 5],
  ]);
  const said = sayTools(report).split("\n");
  expect(said[0]).toBe("23 calls in 2 sessions: 1 failed, 1 refused, 1 interrupted");
  expect(said).toContain("tool         calls  failed  refused  interrupted    p50    p95  in all  input");
  expect(said).toContain("Bash             2       1        1            0  4.0 s  4.0 s   4.0 s   20 B");
  expect(said.filter((line) => /^(project|day)/.test(line))).toHaveLength(2);
});
