// kill -9 of a process that fills the memory index: whoever opens it next goes on, and nothing is half in it or in it twice.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { openHomeIndex } from "./memory/home-index.ts";
import { type MemoryStage, memoryStage, type SaidLine, sessionId } from "./memory/stage.ts";
import { randomOf } from "./store/random.ts";
import { countOf, seed } from "./support/budget.ts";
import { verifies } from "./support/verifies.ts";

const program = path.join(import.meta.dirname, "memory/index-child.ts");
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await killed(child);
});

test("an index that is killed while it is filled goes on where it was, with everything once", {
  timeout: 3_600_000,
}, async () => {
  verifies("S1.28");
  await using stage = await memoryStage();
  for (let number = 1; number <= 6; number++)
    await stage.session(
      sessionId(number),
      "/srv/ferry",
      Array.from({ length: 120 }, (_, line): SaidLine => ({ by: "person", text: wordsOf(number, line) })),
    );
  const whole = await filled(stage);
  expect(whole.chunks.length).toBeGreaterThan(720);
  const count = countOf("memory-kills");
  for (let kill = 0; kill < count; kill++) {
    for (const end of ["", "-wal", "-shm"]) await rm(`${stage.file}${end}`, { force: true });
    const child = spawn(process.execPath, [program, stage.home], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    await once(child.stdout, "data");
    await sleep(randomOf(seed() + kill).below(120));
    await killed(child);
    expect(await filled(stage), `seed ${seed()}, kill ${kill}`).toEqual(whole);
  }
});

/** Some are longer than a chunk. */
const wordsOf = (session: number, line: number): string =>
  `Berth ${line} of quay ${session}. ${"The crane lifts one more crate. ".repeat(line % 20 === 0 ? 200 : 3)}`;

/** All that the index holds, once it is up to date. */
async function filled({ home, file }: MemoryStage): Promise<{ chunks: unknown[]; vectors: number }> {
  const index = openHomeIndex(home);
  await index.catchUp();
  await index.close();
  const database = new DatabaseSync(file);
  try {
    // The words of every chunk and of nothing else: SQLite compares them, and throws where they differ.
    database.exec("INSERT INTO words(words, rank) VALUES('integrity-check', 1)");
    return {
      chunks: database
        .prepare(
          "SELECT sessions.id AS session, seq, part, text FROM chunks JOIN sessions ON sessions.number = chunks.session ORDER BY 1, 2, 3",
        )
        .all(),
      vectors: Number(
        database.prepare("SELECT count(*) AS n FROM vectors JOIN chunks ON chunks.id = chunk").get()?.["n"],
      ),
    };
  } finally {
    database.close();
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
