// Which session made a line, and which sessions did something: on seeded histories, and on a real home.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { blameFile } from "../keel/src/app/time/blame-file.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { httpError, reply, replyWith, toolUse } from "../keel/src/testing/reply.ts";
import { blameLine, type RecordedEdit } from "../keel/src/time/blame/blame.ts";
import { hunksOf } from "../keel/src/tools/hunks.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

/** A file that sessions edit, and somebody beside them at times. Every line is written once, or written again later. */
function history(chance: { random(): number }) {
  let number = 0;
  const fresh = (): string => `line ${number++} of ${Math.floor(chance.random() * 1e6)}`;
  let lines = Array.from({ length: Math.floor(chance.random() * 40) }, fresh);
  const makers = new Map<string, string | undefined>();
  const edits: RecordedEdit[] = [];
  const removed: string[] = [];
  const steps = 3 + Math.floor(chance.random() * 25);
  for (let step = 0; step < steps; step++) {
    const before = lines;
    const isRecorded = chance.random() < 0.75;
    // A line that somebody writes again beside all sessions cannot be told from the one that was there.
    lines = changed(lines, chance, () =>
      isRecorded && removed.length > 0 && chance.random() < 0.15 ? (removed.pop() ?? "") : fresh(),
    );
    removed.push(...before.filter((line) => !lines.includes(line)).slice(0, 3));
    const callId = isRecorded ? `call ${step}` : undefined;
    for (const line of lines) if (!before.includes(line)) makers.set(line, callId);
    if (callId === undefined) continue;
    edits.push({
      session: `session ${Math.floor(chance.random() * 4)}`,
      callId,
      tool: "Edit",
      seq: step,
      at: step,
      said: "",
      message: undefined,
      model: "",
      hunks: hunksOf(textOf(before), textOf(lines)),
    });
  }
  return { text: textOf(lines), lines, edits, makers };
}

const textOf = (lines: readonly string[]): string => (lines.length === 0 ? "" : `${lines.join("\n")}\n`);

function changed(lines: readonly string[], chance: { random(): number }, fresh: () => string): string[] {
  const next = [...lines];
  for (let times = 1 + Math.floor(chance.random() * 3); times > 0; times--) {
    const at = Math.floor(chance.random() * (next.length + 1));
    const taken = chance.random() < 0.5 ? Math.floor(chance.random() * 4) : 0;
    const added = Array.from({ length: Math.floor(chance.random() * 4) }, fresh);
    next.splice(at, taken, ...added);
  }
  return [...new Set(next)];
}

describe("keel blame", () => {
  test("names the edit that made each line of a file, over edits that nobody recorded", () => {
    verifies("P29");
    const chance = countingIds({ seed: seed() + 53 });
    let lines = 0;
    for (let round = 0; round < countOf("blames"); round++) {
      const { text, lines: all, edits, makers } = history(chance);
      for (const [at, line] of all.entries()) {
        const found = blameLine(text, at + 1, edits);
        expect(found?.text).toBe(line);
        expect(found?.edit?.callId, `history ${round}, line ${at + 1}: ${line}`).toBe(makers.get(line));
        lines++;
      }
      expect(blameLine(text, all.length + 1, edits) === undefined || all.length === 0).toBe(true);
    }
    expect(lines).toBeGreaterThan(countOf("blames"));
  });
});

describe("keel sessions search", () => {
  test("finds sessions by file, command, tool, cost, fault and date, and blames lines; the index may be deleted", async () => {
    const stage = await scriptedHome(
      (_, { lastUser }) => {
        if (lastUser.includes("write hello")) {
          const content = "hello\nsecond\n";
          return replyWith(
            { usage: { inputTokens: 100_000, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 } },
            toolUse("Write", { file_path: "src/a.txt", content }),
          );
        }
        if (lastUser.includes("edit it"))
          return reply(
            "",
            toolUse("Read", { file_path: "src/a.txt" }),
            toolUse("Edit", { file_path: "src/a.txt", old_string: "second", new_string: "third\nfourth" }),
          );
        if (lastUser.includes("run it"))
          return reply("", toolUse("Bash", { command: "printf 'sparrow owl'" }));
        if (lastUser.includes("fail now")) return httpError(400);
        return reply("Done.");
      },
      { settings: { permissions: { allow: ["Bash", "Write", "Edit", "Read"] } } },
    );
    const ids: string[] = [];
    for (const words of ["write hello", "edit it", "run it", "fail now"]) {
      const session = await stage.home.open(stage.options);
      agree(session);
      await say(session, words);
      await session.idle();
      await session.close("ended");
      ids.push(session.id);
    }
    const [wrote = "", edited = "", ran = "", failed = ""] = ids;
    const find = async (wanted: object): Promise<string[]> =>
      (await (await stage.home.conversations()).find(wanted)).map(({ id }) => id).sort();
    const file = path.join(stage.cwd, "src/a.txt");
    const place = { sessions: stage.home.sessions, conversations: () => stage.home.conversations() };
    const asked = async () => ({
      file: await find({ file: "src/a.txt" }),
      name: await find({ file: "a.txt" }),
      other: await find({ file: "c/a.txt" }),
      command: await find({ command: "owl" }),
      tool: await find({ tool: "Write" }),
      cost: await find({ leastUsd: 0.2 }),
      fault: await find({ fault: "model_error" }),
      words: await find({ words: "it", tool: "Bash" }),
      later: await find({ since: Date.now() + 60_000 }),
      now: await find({ since: Date.now() - 60_000 }),
      earlier: await find({ until: Date.now() - 3_600_000 }),
      blamed: (await blameFile(place, { file, from: 1, to: 3 })).map(
        ({ text, edit }) => `${text} ${edit?.session} ${edit?.said}`,
      ),
    });
    const answers = await asked();
    expect(answers).toEqual({
      file: [wrote, edited].sort(),
      name: [wrote, edited].sort(),
      other: [],
      command: [ran],
      tool: [wrote],
      cost: [wrote],
      fault: [failed],
      words: [ran],
      later: [],
      now: ids.toSorted(),
      earlier: [],
      blamed: [`hello ${wrote} write hello`, `third ${edited} edit it`, `fourth ${edited} edit it`],
    });
    // The index is made again from the logs.
    await stage.home.close();
    for (const end of ["", "-wal", "-shm"])
      rmSync(path.join(stage.home.path, `conversations.db${end}`), { force: true });
    const again = stage.reopen();
    const rebuilt = { sessions: again.sessions, conversations: () => again.conversations() };
    expect(
      (await (await again.conversations()).find({ command: "owl" })).map(({ id, excerpt }) => [id, excerpt]),
    ).toEqual([[ran, "printf 'sparrow owl'"]]);
    // What somebody wrote beside all sessions is nobody's.
    writeFileSync(file, `mine\n${readFileSync(file, "utf8")}`);
    const shifted = await blameFile(rebuilt, { file, from: 1, to: 4 });
    expect(shifted.map(({ edit }) => edit?.session)).toEqual([undefined, wrote, edited, edited]);
  });
});
