// A long session that ended is taken up by what was kept of its fold, and is the same session without it.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { reply, replyWith } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { session } from "../store/home.ts";
import { writeLongSession } from "../store/long-session.ts";
import { type Line, startHost } from "./runner-host.ts";
import { lines, openStage, type Stage, until } from "./stage.ts";

type Left = Stage & {
  readonly kept: string;
  /** Puts the home back to how it was left. */
  putBack(): void;
  /** Puts it back, changes it, and goes on with the session. */
  goOn(change: () => void): Promise<{ body: unknown; types: unknown[] }>;
};

/** A session of 1,500 events that Keel went on with once, and ended. */
async function openLeft(replies: readonly Reply[] = [], goOnce = printOnce): Promise<Left> {
  const stage = await openStage({ replies: [...replies], otherwise: reply("ok") });
  const wish = { home: stage.home, cwd: stage.project, session, model: "claude-haiku-4-5" };
  writeLongSession({ ...wish, events: 1_500, bytes: 1_500_000, words: 'One "word" ✓\n' });
  const kept = path.join(stage.home, "projects/long", `${session}.kept`);
  const left = `${stage.home}.left`;
  await goOnce(stage);
  cpSync(stage.home, left, { recursive: true });
  const before = stage.log(session).length;
  const putBack = (): void => {
    rmSync(stage.home, { recursive: true });
    cpSync(left, stage.home, { recursive: true });
  };
  return {
    ...stage,
    kept,
    putBack,
    async goOn(change) {
      putBack();
      change();
      expect(await stage.run(["-p", "two", "--resume", session])).toMatchObject({
        code: 0,
        stdout: "ok\n",
        stderr: "",
      });
      const types = stage.log(session).map(({ type, seq }) => [seq, type]);
      return { body: stage.server.requests.at(-1)?.body, types: types.slice(before) };
    },
  };
}

const printOnce = async ({ run }: Stage): Promise<void> => {
  expect(await run(["-p", "one", "--resume", session])).toMatchObject({ code: 0, stdout: "ok\n" });
};

test("with it, without it, and with what is left of it, the session asks the same and writes the same", async () => {
  const { kept, goOn } = await openLeft();
  const whole = await goOn(() => expect(existsSync(kept)).toBe(true));
  expect(JSON.stringify(whole.body)).toContain("two");
  const changes: [string, () => void][] = [
    ["removed", () => rmSync(kept)],
    ["empty", () => writeFileSync(kept, "")],
    ["cut", () => truncateSync(kept, statSync(kept).size >> 1)],
    ["changed", () => writeFileSync(kept, readFileSync(kept, "utf8").replace("word", "lord"))],
    [
      "a folder",
      () => {
        rmSync(kept);
        mkdirSync(kept);
      },
    ],
  ];
  for (const [name, change] of changes) expect(await goOn(change), name).toEqual(whole);
});

test("it is used: what stands in it is what is told", async () => {
  const { kept, run } = await openLeft();
  const bytes = readFileSync(kept);
  const end = bytes.indexOf("\n");
  const { sum: _, ...head } = JSON.parse(bytes.toString("utf8", 0, end));
  const state = JSON.parse(bytes.toString("utf8", end + 1, end + 1 + head.texts[0]));
  state.bill.costUsd = 77;
  const dearer = Buffer.from(JSON.stringify(state));
  const content = Buffer.concat([dearer, bytes.subarray(end + 1 + head.texts[0])]);
  const {
    keel,
    build,
    session: id,
    seq,
    log,
    texts,
  } = {
    ...head,
    texts: [dearer.length, ...head.texts.slice(1)],
  };
  const sum = crc32(content, crc32(JSON.stringify([build, id, seq, log.bytes, log.sum, texts])));
  const line = JSON.stringify({ keel, build, session: id, seq, log, texts, sum });
  writeFileSync(kept, Buffer.concat([Buffer.from(`${line}\n`), content]));
  expect((await run(["-p", "/cost", "--resume", session])).stdout).toContain("77");
});

test("after a kill what came since is folded on top of it", async () => {
  const replies = [reply("ok"), replyWith({ delayMs: 60_000 }, "never")];
  const { home, start, run, server, kept } = await openLeft(replies);
  const keptAt = statSync(kept).mtimeMs;
  const running = start(["-p", "lost words", "--resume", session]);
  running.child.stdin?.end();
  await until("the model is asked", () => server.requests.length === 2);
  running.child.kill("SIGKILL");
  await running.ended;
  expect(statSync(kept).mtimeMs).toBe(keptAt);
  const copy = `${home}.copy`;
  cpSync(home, copy, { recursive: true });
  await run(["-p", "three", "--resume", session]);
  const withIt = server.requests.at(-1)?.body;
  rmSync(home, { recursive: true });
  cpSync(copy, home, { recursive: true });
  rmSync(kept);
  await run(["-p", "three", "--resume", session]);
  expect(server.requests.at(-1)?.body).toEqual(withIt);
  expect(JSON.stringify(withIt)).toContain("lost words");
});

/** What differs from run to run: names that are made of the time, and times. */
const withoutTimes = (lines: readonly Record<string, unknown>[]): unknown[] =>
  JSON.parse(
    JSON.stringify(lines, (name, value: unknown) =>
      /^id$|uuid|duration|_ms$|Ms$|time|Ids?$|_id$/.test(name) ? typeof value : value,
    ),
  );

test("messages as JSON count on, with it and without it", async () => {
  const json = ["--resume", session, "--output-format", "stream-json", "--verbose"];
  const { kept, putBack, run } = await openLeft([], async (stage) => {
    await stage.run(["-p", "one", ...json]);
  });
  const ended = async () => withoutTimes(lines((await run(["-p", "two", ...json])).stdout));
  expect(readFileSync(kept, "utf8")).toContain('{"messages":{');
  const withIt = await ended();
  putBack();
  rmSync(kept);
  expect(await ended()).toEqual(withIt);
  expect(withIt.at(-1)).toMatchObject({ type: "result", total_cost_usd: expect.closeTo(3.62, 2) });
});

test("a host of the runner is told the same, with it and without it", async () => {
  const goOn = async (stage: Stage): Promise<Line[]> => {
    const host = startHost(stage, ["--resume", session]);
    await host.next("init");
    host.send({ type: "message", content: "more" });
    await host.next("result");
    host.end();
    expect((await host.exited).code).toBe(0);
    return host.lines;
  };
  const { kept, putBack, ...stage } = await openLeft([], async (first) => {
    await goOn(first);
  });
  expect(readFileSync(kept, "utf8")).toContain('{"runner":{');
  const withIt = withoutTimes(await goOn(stage));
  putBack();
  rmSync(kept);
  expect(withoutTimes(await goOn(stage))).toEqual(withIt);
});
