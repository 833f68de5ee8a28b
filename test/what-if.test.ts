// A recorded session from one of its moments on, once more and with one change: on real folders, sessions and copies.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  planWhatIf,
  runWhatIf,
  type WhatIfChange,
  whatIfPage,
  whatIfTable,
} from "../keel/src/app/time/what-if.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { movePaths } from "../keel/src/time/what-if/fork-point.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { treeHash } from "./support/tree-hash.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };

/** Message n writes n into state.txt by two edits and a command at times; what the model is sent later decides otherwise. */
async function recorded(turns: number) {
  const asked: string[] = [];
  const stage = await scriptedHome(
    (body, { lastUser }) => {
      asked.push(JSON.stringify(body));
      const model = String(body["model"]);
      const number = Number(/message (\d+)/.exec(lastUser)?.[1] ?? 0);
      if (lastUser.includes("other words")) return reply("Other words.");
      if (number === 0) return reply(model.includes("haiku") ? "Done by the small one." : "Done.");
      if (model.includes("haiku"))
        return reply("", toolUse("Write", { file_path: "state.txt", content: "small\n" }));
      if (number % 4 === 0)
        return reply("", toolUse("Bash", { command: `printf 'run ${number}\\n' > command.txt` }));
      return reply(
        "",
        toolUse("Write", { file_path: `new-${number}.txt`, content: `first ${number}\n` }),
        toolUse("Write", { file_path: "state.txt", content: `state ${number}\n` }),
      );
    },
    { settings: { permissions: { allow: ["Bash(printf:*)"], defaultMode: "acceptEdits" } } },
  );
  execFileSync("git", ["init", "-q"], { cwd: stage.cwd });
  writeFileSync(path.join(stage.cwd, "AGENTS.md"), "Work with care.\n");
  writeFileSync(path.join(stage.cwd, "kept.txt"), "kept\n");
  const session = await stage.home.open({ ...stage.options, checkpoints: "on" });
  agree(session);
  const hashes = new Map<number, string>();
  session.onEvent((event) => {
    if ("seq" in event && event.origin === undefined) hashes.set(event.seq, treeHash(stage.cwd));
  });
  for (let number = 1; number <= turns; number++) {
    const ended = Promise.withResolvers<void>();
    const off = session.onEvent((event) => event.type === "turn.finished" && ended.resolve());
    await say(session, `message ${number}`);
    await ended.promise;
    off();
  }
  await session.close("ended");
  const events = await Array.fromAsync(stage.home.sessions.read(session.id));
  const messages = events.flatMap((event) => (event.type === "input.accepted" ? [event.input.id] : []));
  return { ...stage, id: session.id, events, messages, hashes, asked };
}

type Stage = Awaited<ReturnType<typeof recorded>>;

const placeOf = ({ env, cwd, home }: Stage) => ({ env, cwd, home: home.path, version: "0", ids: home.ids });

const wishOf = (
  { events, cwd }: Stage,
  at: string,
  change: WhatIfChange = {},
  more: Partial<Parameters<typeof planWhatIf>[1]> = {},
): Parameters<typeof planWhatIf>[1] => ({
  events,
  cwd,
  at,
  change,
  samples: 1,
  messages: 1,
  mode: "acceptEdits",
  timeoutMs: 20_000,
  anyway: false,
  signal: new AbortController().signal,
  ...more,
});

async function whatIf(
  stage: Stage,
  ...wanted: Parameters<typeof wishOf> extends [unknown, ...infer R] ? R : never
) {
  const wish = wishOf(stage, ...wanted);
  const plan = await planWhatIf(placeOf(stage), wish);
  return { plan, wish, result: await runWhatIf(placeOf(stage), wish, plan) };
}

const scratches = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`keel-scratch-${process.pid}-`));

const logOf = ({ home, id }: Stage): string => readFileSync(home.sessions.location(id) ?? "", "utf8");

describe("keel what-if", () => {
  test(
    "goes on from a message as it was recorded where nothing is changed, and leaves no trace",
    patience,
    async () => {
      verifies("P29");
      const stage = await recorded(5);
      const [before, log] = [treeHash(stage.cwd), logOf(stage)];
      const { plan, result, wish } = await whatIf(
        stage,
        stage.messages[2] ?? "",
        {},
        { samples: 2, command: "cat state.txt" },
      );
      expect(plan).toMatchObject({ difference: undefined, lost: [] });
      expect(plan.estimateUsd).toBeCloseTo(plan.recorded.costUsd * 2, 9);
      expect(plan.recorded.costUsd).toBeGreaterThan(0);
      const [first, ...samples] = result.rows;
      expect(first?.check).toMatchObject({ exitCode: 0, output: "state 3\n" });
      expect(samples).toHaveLength(2);
      for (const { outcome, files, check } of samples) {
        expect(outcome).toMatchObject({
          answer: "Done.",
          reason: "completed",
          requests: 2,
          calls: 2,
          turns: 1,
        });
        expect(files).toEqual(first?.files);
        expect(files.map(({ path: name, kind }) => `${name} ${kind}`)).toEqual([
          "new-3.txt added",
          "state.txt changed",
        ]);
        expect(check).toEqual(first?.check);
      }
      expect(result.spentUsd).toBeGreaterThan(0);
      expect([treeHash(stage.cwd), logOf(stage)]).toEqual([before, log]);
      expect(scratches()).toEqual([]);
      expect((await stage.home.sessions.list({})).map(({ id }) => id)).toEqual([stage.id]);
      // Nothing of what was sent named the folder itself.
      const sent = stage.asked.slice(-4).join("\n");
      expect(sent).toContain("keel-scratch-");
      expect(sent).not.toContain(`${stage.cwd}/`);
      expect(whatIfTable(result.rows)[2]?.join(" ")).toContain("as recorded");
      const page = whatIfPage(stage.id, result, { wish, plan });
      expect(page).toContain("+state 3");
      expect(page).not.toMatch(/<script|src=|https?:/);
    },
  );

  test("has the files of any event as they were then", patience, async () => {
    const stage = await recorded(8);
    const chance = countingIds({ seed: seed() + 29 });
    // Calls of one reply may run beside each other: what stands between their ends is not one moment.
    const known = stage.events.filter(
      (event, at) => stage.hashes.has(event.seq) && !isBetweenCalls(event, stage.events[at + 1]),
    );
    for (let round = 0; round < countOf("what-if-points"); round++) {
      const event = known[Math.floor(chance.random() * known.length)];
      if (!event) throw new Error("there is no event");
      const plan = await planWhatIf(placeOf(stage), wishOf(stage, String(event.seq))).catch(() => undefined);
      // Behind the last turn nothing follows.
      if (!plan) {
        expect(
          stage.events.slice(stage.events.indexOf(event)).some(({ type }) => type === "turn.started"),
        ).toBe(false);
        continue;
      }
      const copy = mkdtempSync(path.join(tmpdir(), "keel-what-if-"));
      onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
      execFileSync("cp", ["-r", `${stage.cwd}/.`, copy]);
      for (const [file, content] of plan.moments?.before.files ?? []) {
        const target = path.join(copy, path.relative(stage.cwd, file));
        if (content === null) rmSync(target, { force: true });
        else writeFileSync(target, content);
      }
      expect(treeHash(copy), `event ${event.seq} ${event.type}`).toBe(
        stage.hashes.get(plan.point.within ? event.seq : plan.point.seq),
      );
    }
  });

  test("sends each change, and only that", patience, async () => {
    const stage = await recorded(3);
    const at = stage.messages[1] ?? "";
    const small = await whatIf(stage, at, { model: "claude-haiku-4-5" });
    expect(small.result.rows[1]?.outcome.answer).toBe("Done by the small one.");
    expect(small.result.rows[1]?.files.map(({ path: name }) => name)).toEqual(["state.txt"]);
    expect(small.plan.estimateUsd).toBeLessThan(small.plan.recorded.costUsd);

    await whatIf(stage, at, { prompt: "You are a parrot." });
    expect(stage.asked.at(-1)).toContain("You are a parrot.");

    const other = await whatIf(stage, at, { message: "other words" });
    expect(other.result.rows[1]?.outcome).toMatchObject({ answer: "Other words.", calls: 0 });

    for (const message of [at, stage.messages[0] ?? ""]) {
      await whatIf(stage, message, { instructions: "Work like the wind.\n" });
      expect(stage.asked.at(-1)).toContain("Work like the wind.");
    }

    const strict = await whatIf(stage, at, {
      permissions: { deny: ["Write(state.txt)", "Edit(state.txt)"] },
    });
    expect(strict.result.rows[1]?.outcome).toMatchObject({ refusedCalls: 1, calls: 2 });

    const ended = stage.events.find(
      (event): event is Extract<Durable, { type: "tool.finished" }> => event.type === "tool.finished",
    );
    const result = await whatIf(stage, String(ended?.seq), { result: "The disk is on fire." });
    expect(stage.asked.at(-1)).toContain("The disk is on fire.");
    expect(result.plan.point.within).toBe(true);
    await expect(whatIf(stage, at, { result: "x" })).rejects.toMatchObject({ code: "usage" });
    await expect(whatIf(stage, String(ended?.seq), { message: "x" })).rejects.toMatchObject({
      code: "usage",
    });
    await expect(whatIf(stage, "nobody")).rejects.toMatchObject({ code: "usage" });
  });

  test("says later messages too where that is wanted", patience, async () => {
    const stage = await recorded(3);
    const { result } = await whatIf(stage, stage.messages[0] ?? "", {}, { messages: 3 });
    expect(result.rows.map(({ outcome }) => outcome.turns)).toEqual([3, 3]);
    expect(result.rows[1]?.files).toEqual(result.rows[0]?.files);
    expect(result.rows[1]?.files.map(({ path: name }) => name)).toEqual([
      "new-1.txt",
      "new-2.txt",
      "new-3.txt",
      "state.txt",
    ]);
  });

  test("is refused with the place where today's Keel does not come to that moment", patience, async () => {
    const stage = await recorded(2);
    const events = stage.events.map((event) =>
      event.type === "prompt.fixed"
        ? { ...event, system: ["Another prompt.", ...event.system.slice(1)] }
        : event,
    );
    const wish = wishOf({ ...stage, events }, stage.messages[1] ?? "");
    const plan = await planWhatIf(placeOf(stage), wish);
    expect(plan.difference).toBeDefined();
    await expect(runWhatIf(placeOf(stage), wish, plan)).rejects.toThrow(
      /at event \d+, (prompt|code|messages|settings)/,
    );
    const { rows } = await runWhatIf(placeOf(stage), { ...wish, anyway: true }, plan);
    expect(rows[1]?.outcome.isGood).toBe(true);
  });

  test("shares one budget between samples, and stops all of them when it is spent", patience, async () => {
    const stage = await recorded(2);
    const { plan, result } = await whatIf(
      stage,
      stage.messages[1] ?? "",
      {},
      { samples: 6, budgetUsd: 0.000001 },
    );
    expect(plan.recorded.costUsd).toBeGreaterThan(0.000001);
    const samples = result.rows.slice(1);
    expect(samples).toHaveLength(6);
    expect(
      samples.every(({ stopped, outcome }) => stopped === "budget" || outcome.reason === "budget_usd"),
    ).toBe(true);
    expect(samples.filter(({ outcome }) => outcome.requests > 0).length).toBeLessThanOrEqual(4);
    expect(scratches()).toEqual([]);
  });

  test(
    "leaves nothing behind when it is stopped, when its command hangs, or when it was killed",
    patience,
    async () => {
      const stage = await recorded(2);
      const before = treeHash(stage.cwd);
      const stop = new AbortController();
      const wish = wishOf(stage, stage.messages[1] ?? "", {}, { signal: stop.signal, command: "sleep 30" });
      const plan = await planWhatIf(placeOf(stage), wish);
      setTimeout(() => stop.abort(), 400);
      await expect(runWhatIf(placeOf(stage), wish, plan)).rejects.toMatchObject({ code: "aborted" });
      expect(scratches()).toEqual([]);

      const slow = await whatIf(stage, stage.messages[1] ?? "", {}, { command: "sleep 30", timeoutMs: 800 });
      expect(slow.result.rows[1]?.check?.exitCode).not.toBe(0);

      const child = spawn("true");
      await once(child, "exit");
      const left = path.join(tmpdir(), `keel-scratch-${child.pid}-left`);
      mkdirSync(left);
      await whatIf(stage, stage.messages[1] ?? "");
      expect(readdirSync(tmpdir())).not.toContain(path.basename(left));
      expect(scratches()).toEqual([]);
      expect(treeHash(stage.cwd)).toBe(before);
    },
  );

  test("a name that only begins like the folder is another one", () => {
    expect(
      movePaths({ a: ["/x/proj/a.ts, /x/proj, /x/proj. /x/project /x/proj-2 /x/proj.bak"] }, "/x/proj", "/y"),
    ).toEqual({
      a: ["/y/a.ts, /y, /y. /x/project /x/proj-2 /x/proj.bak"],
    });
  });
});

const isBetweenCalls = (event: Durable, next: Durable | undefined): boolean =>
  [event, next].some(
    (each) => each !== undefined && ["tool.started", "tool.finished", "files.saved"].includes(each.type),
  );
