import { describe, expect, test } from "vitest";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

type Report = {
  readonly sessions: number;
  readonly costUsd: number;
  readonly atLeast: boolean;
  readonly models: Record<string, { readonly replies: number; readonly usage: Record<string, number> }>;
  readonly cache: {
    readonly requests: number;
    readonly readTokens: number;
    readonly readRatio: number;
    readonly predicted: Record<string, number>;
    readonly counted: Record<string, number>;
    readonly breaks: readonly { readonly cause: unknown; readonly block: string }[];
  };
};

describe("keel usage", () => {
  const long = ["--append-system-prompt", "Be careful with every single file. ".repeat(600)];

  test("shows what a session cost, how its cache served it, and the boundary that broke its prefix", async () => {
    const stage = await openStage(
      {
        replies: [
          reply("Let me see.", toolUse("Read", { file_path: "missing.txt" })),
          reply("There is none."),
          reply("And now?"),
        ],
      },
      { cache: "simulated" },
    );
    await stage.run(["-p", "look", ...long]);
    await stage.run(["-p", "again", "--continue", ...long.slice(0, 1), "Be quick. ".repeat(2_500)]);

    const said = await stage.run(["usage"]);
    expect(said).toMatchObject({ code: 0, stderr: "" });
    expect(said.stdout).toContain("1 session, 3 replies: $0.0");
    expect(said.stdout).toMatch(/^claude-haiku-4-5 +3 +0 +[\d,]{5,} +[\d,]{5,} +\d+ +\$0\.\d{4}$/m);
    expect(said.stdout).toMatch(
      /request 3: read \d+ of [\d,]+ tokens; declared: prompt, host; first new block: system \d/,
    );

    const report: Report = JSON.parse(
      (await stage.run(["usage", "--json", stage.sessions()[0] ?? ""])).stdout,
    );
    expect(report).toMatchObject({ sessions: 1, atLeast: false, cache: { requests: 3 } });
    expect(report.cache.breaks).toMatchObject([{ cause: { kind: "declared", by: { why: "host" } } }]);
    expect(report.cache.readTokens).toBeGreaterThan(4_000);
    expect(report.cache.predicted["readTokens"]).toBe(report.cache.counted["readTokens"]);
  });

  test("keeps the cost with each session, and counts it: over a resume, and for collectors of metrics", async () => {
    verifies("S4.80");
    const stage = await openStage({ replies: [reply("One."), reply("Two."), reply("Three.")] });
    await stage.run(["-p", "first"]);
    const [session = ""] = stage.sessions();
    const counted = async (...words: string[]): Promise<string[]> =>
      (await stage.run(["usage", "--metrics", ...words])).stdout.split("\n");
    const cost = (lines: readonly string[]): number =>
      Number(
        lines.find((line) => line.startsWith('keel_cost_usd_total{model="claude-haiku-4-5"}'))?.split(" ")[1],
      );
    const once = await counted(session);
    expect(cost(once)).toBeGreaterThan(0);
    expect(once.at(-2)).toBe("# EOF");

    // The process that paid is gone: what it cost stands with the session, and the next one counts on.
    await stage.run(["-p", "second", "--resume", session]);
    const twice = await counted(session);
    expect(cost(twice)).toBeCloseTo(2 * cost(once), 10);
    expect(twice).toContain('keel_replies_count_total{model="claude-haiku-4-5"} 2');
    await stage.run(["-p", "third"]);
    expect(await counted("--project")).toContain("keel_sessions_count_total 2");
    expect(cost(await counted("--project"))).toBeCloseTo(3 * cost(once), 10);
  });

  test("sums up a folder or some days, and says at least where a reply broke off", async () => {
    const stage = await openStage({
      replies: [reply("one"), replyWith({ fault: { kind: "cut", afterEvents: 2 } }, "half"), reply("two")],
    });
    await stage.run(["-p", "first"]);
    await stage.run(["-p", "second"], { env: { KEEL_MAX_RETRIES: "1" } });
    const one: Report = JSON.parse((await stage.run(["usage", "--json"])).stdout);
    const all: Report = JSON.parse((await stage.run(["usage", "--project", "--json"])).stdout);
    const days: Report = JSON.parse((await stage.run(["usage", "--days", "1", "--json"])).stdout);
    expect([one.sessions, all.sessions, days.sessions]).toEqual([1, 2, 2]);
    expect([one.atLeast, all.atLeast]).toEqual([true, true]);
    expect(all.costUsd).toBeGreaterThan(one.costUsd);
    expect((await stage.run(["usage", "--project"])).stdout).toContain("2 sessions, 2 replies: at least $");
  });

  test("--tools counts calls by tool, project and day, as a table and as JSON", async () => {
    verifies("S1.26");
    const stage = await openStage({
      replies: [
        reply(toolUse("Read", { file_path: "none.txt" }), toolUse("Bash", { command: "touch x" })),
        reply("No."),
      ],
    });
    await stage.run(["-p", "look"]);
    const said = await stage.run(["usage", "--tools"]);
    expect(said).toMatchObject({ code: 0, stderr: "" });
    expect(said.stdout).toMatch(/^2 calls in 1 session: 1 failed, 1 refused, 0 interrupted\n/);
    expect(said.stdout).toMatch(/^Bash +1 +0 +1 +0 /m);
    const all = JSON.parse((await stage.run(["usage", "--tools", "--days", "2", "--json"])).stdout);
    expect(all).toMatchObject({ sessions: 1, tools: { Read: { calls: 1, failed: 1 }, Bash: { denied: 1 } } });
    expect(all.projects).toMatchObject({ [stage.project]: { calls: 2 } });
    expect(await stage.run(["usage", "--tools", "--metrics"])).toMatchObject({ code: 64 });
  });

  test("ends with its own code where nothing was said, asked wrongly, or the session is unknown", async () => {
    const stage = await openStage({ replies: [] });
    expect(await stage.run(["usage"])).toMatchObject({ code: 66, stdout: "" });
    expect(await stage.run(["usage", "--project"])).toMatchObject({ code: 0, stdout: "" });
    expect(await stage.run(["usage", "00000000-0000-7000-8000-000000000000"])).toMatchObject({ code: 66 });
    for (const wrong of [
      ["--days", "none"],
      ["a", "b"],
      ["a", "--project"],
    ])
      expect(await stage.run(["usage", ...wrong])).toMatchObject({ code: 64, stdout: "" });
  });
});
