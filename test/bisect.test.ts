// The message, the call and the change with which something began to fail, on real folders and real sessions.

import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Bisected, bisectByCommand, bisectByEvents } from "../keel/src/app/time/bisect.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { toolUses } from "../keel/src/protocol/message.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { firstBad } from "../keel/src/time/bisect/first-bad.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { treeHash } from "./support/tree-hash.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };

describe("the search", () => {
  test("finds a planted event among a thousand in eleven looks at most", async () => {
    const chance = countingIds({ seed: seed() });
    for (let round = 0; round < 100; round++) {
      const planted = Math.floor(chance.random() * 1_000);
      const { first, looks } = await firstBad(1_000, (point) => point >= planted);
      expect(first).toBe(planted);
      expect(looks).toBeLessThanOrEqual(11);
    }
  });

  test("says nothing where nothing is wrong, and tells what answers now so, now so", async () => {
    expect(await firstBad(1_000, () => false)).toMatchObject({ first: undefined, looks: 1 });
    let asked = 0;
    const flaky = await firstBad(1_000, () => asked++ % 3 !== 1, { twice: true });
    expect(flaky.unsure.length).toBeGreaterThan(0);
  });
});

/** A repository with files, and a session of so many messages: some write, some edit twice, some run a command. */
async function recorded(turns: number, breaksAt: number) {
  let turn = 0;
  const stage = await scriptedHome(
    (_, { lastUser }) => {
      if (!lastUser.startsWith("message ")) return reply("Done.");
      turn = Number(lastUser.split(" ")[1]);
      const value = (of: number): string => (of >= breaksAt ? "bad" : `good ${of}`);
      const text = `state ${value(turn)}\n`;
      if (turn % 3 === 0)
        return reply("", toolUse("Bash", { command: `printf 'state ${value(turn)}\\n' > command.txt` }));
      return reply(
        "",
        toolUse("Write", { file_path: `other-${turn}.txt`, content: "first\n" }),
        toolUse("Write", { file_path: "state.txt", content: text }),
        toolUse("Write", { file_path: `last-${turn}.txt`, content: "last\n" }),
      );
    },
    { settings: { permissions: { allow: ["Bash", "Write", "Edit"], defaultMode: "acceptEdits" } } },
  );
  execFileSync("git", ["init", "-q"], { cwd: stage.cwd });
  writeFileSync(path.join(stage.cwd, "untouched.txt"), "good\n");
  const session = await stage.home.open({ ...stage.options, checkpoints: "on" });
  agree(session);
  for (let number = 1; number <= turns; number++) {
    const ended = Promise.withResolvers<void>();
    const off = session.onEvent((event) => event.type === "turn.finished" && ended.resolve());
    // What was written in the turn before has been seen.
    await say(session, `message ${number}`);
    await ended.promise;
    off();
  }
  await session.close("ended");
  const events = await Array.fromAsync(stage.home.sessions.read(session.id));
  return { ...stage, id: session.id, events };
}

const scratches = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`keel-scratch-${process.pid}-`));

const bisectIn = (
  { events, cwd, env }: { events: readonly Durable[]; cwd: string; env: Record<string, string | undefined> },
  command: string,
  more: { signal?: AbortSignal; twice?: boolean } = {},
): Promise<Bisected> =>
  bisectByCommand(events, {
    command,
    cwd,
    blobs: path.join(env["KEEL_HOME"] ?? "", "blobs"),
    env,
    twice: more.twice ?? false,
    signal: more.signal ?? new AbortController().signal,
    timeoutMs: 20_000,
    tell: () => undefined,
  });

describe("keel bisect", () => {
  test(
    "finds the message of thirty, its call and its change; the folder stays as it is",
    patience,
    async () => {
      verifies("P29");
      const chance = countingIds({ seed: seed() + 7 });
      for (let round = 0; round < countOf("bisects"); round++) {
        const breaksAt = 1 + Math.floor(chance.random() * 30);
        const stage = await recorded(30, breaksAt);
        const before = treeHash(stage.cwd);
        const found = await bisectIn(stage, "! grep -q bad state.txt command.txt");
        expect(found.lost).toEqual([]);
        expect(found.looks).toBeLessThanOrEqual(Math.ceil(Math.log2(found.points)) + 1);
        expect(found.found, `breaks at ${breaksAt}`).toMatchObject({
          kind: "found",
          said: `message ${breaksAt}`,
        });
        if (found.found.kind !== "found") return;
        expect(found.found.diff).toContain("+state bad");
        // Of three edits of a message the middle one; of a command there is but one call.
        const uses = stage.events.flatMap((event) =>
          event.type === "model.finished" ? toolUses(event.content) : [],
        );
        const call = found.found.callId ?? found.found.calls?.[0]?.callId;
        expect(JSON.stringify(uses.find(({ id }) => id === call)?.input)).toContain("state bad");
        expect(treeHash(stage.cwd)).toBe(before);
        expect(scratches()).toEqual([]);
      }
    },
  );

  test("says that it never fails, or always did, or that it cannot be told", async () => {
    const stage = await recorded(4, 2);
    expect((await bisectIn(stage, "true")).found).toEqual({ kind: "never" });
    expect((await bisectIn(stage, "false")).found).toEqual({ kind: "start" });
    const counter = path.join(stage.folder, "counter");
    const flaky = `echo x >> ${counter}; test $(( $(wc -l < ${counter}) % 2 )) = 0`;
    expect((await bisectIn(stage, flaky, { twice: true })).found).toEqual({ kind: "unsure" });
    expect(scratches()).toEqual([]);
  });

  test("leaves nothing behind when it is stopped", async () => {
    const stage = await recorded(3, 2);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    await expect(bisectIn(stage, "sleep 20", { signal: stop.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(scratches()).toEqual([]);
  });

  test("finds the event with which words came, or with which a function of the state began to hold", async () => {
    const { events } = await recorded(4, 3);
    const words = await bisectByEvents(events, (upTo) => JSON.stringify(upTo).includes("message 3"));
    const at =
      words.found.kind === "found"
        ? events.find(({ seq }) => seq === (words.found as { seq: number }).seq)
        : undefined;
    expect(at?.type).toBe("input.accepted");
    const turns = await bisectByEvents(events, (_, state) => state().turns >= 2);
    expect(turns.found.kind).toBe("found");
    expect(turns.looks).toBeLessThanOrEqual(Math.ceil(Math.log2(events.length)) + 1);
  });
});
