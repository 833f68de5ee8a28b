// P32: a process with more conversations than room lets those rest that do nothing, and refuses what would not fit.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";

const child = path.join(import.meta.dirname, "pressure-child.ts");

test("thirty conversations of a megabyte have room for twelve, and none forgets a word", async () => {
  verifies("P32");
  const conversations = 30;
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-pressure-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = path.join(folder, "work");
  mkdirSync(cwd);
  const asked: { name: string | undefined; characters: number }[] = [];
  const server = await startModelServer({
    script: { replies: [], otherwise: reply("Read.") },
    law: "none",
    maxRequests: 1,
    onRequest({ body }) {
      const text = JSON.stringify(body["messages"]);
      asked.push({ name: /conversation-\d+/.exec(text)?.[0], characters: text.length });
    },
  });
  onTestFinished(() => server.close());
  const env = {
    ...{ PATH: process.env["PATH"], HOME: folder, KEEL_HOME: path.join(folder, "home") },
    ...{ ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "test-key" },
  };
  const options = { cwd, env, model: "claude-sonnet-4-5", settingSources: [] };
  const wish = { options, conversations, characters: 2 ** 20, room: 12 };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--expose-gc", child, JSON.stringify(wish)],
    { timeout: 120_000, maxBuffer: 2 ** 24 },
  );
  const told = JSON.parse(stdout);

  expect(told.answers).toEqual(Array(2 * conversations).fill("Read."));
  expect(told.heldAfter).toBeLessThan(told.bound);
  // Each was asked about with all that was said in it, also after its rest.
  const again = asked.slice(1 + conversations, 1 + 2 * conversations);
  expect(again.map(({ name }) => name)).toEqual(
    Array.from({ length: conversations }, (_, index) => `conversation-${index}`),
  );
  for (const { characters } of again) expect(characters).toBeGreaterThan(2 ** 20);

  // What cannot rest is refused before it does not fit, and room is there again when it has gone.
  expect(told).toMatchObject({ refused: "process_full", last: "Read.", fits: true });
  expect(told.taken).toBeGreaterThan(3);
  expect(told.taken).toBeLessThan(conversations);
});
