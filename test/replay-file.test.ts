// A session as one file: without secrets, and replayed by somebody else, in another home.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { openHome } from "../keel/src/app/home.ts";
import { replayEnvironment } from "../keel/src/app/time/environment.ts";
import { readReplay, writeReplay } from "../keel/src/app/time/replay-file.ts";
import { logsWithAgents, openReplay, replaySessions } from "../keel/src/app/time/replay-sessions.ts";
import { countingIds } from "../keel/src/testing/counting-ids.ts";
import { documentOf } from "../keel/src/view/document.ts";
import { toHtml } from "../keel/src/view/html.ts";
import { countOf, seed } from "./support/budget.ts";
import { planted, plantedSession, spellingsOf } from "./support/planted-secrets.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };

async function recorded() {
  const stage = await plantedSession();
  const logs = await Array.fromAsync(
    logsWithAgents(stage.home.sessions, stage.id, (text) => expect.fail(text)),
  );
  const place = { env: stage.env, cwd: stage.cwd, home: stage.home.path, version: "0" };
  const written = await writeReplay(place, logs);
  const page = toHtml(documentOf(written.logs[0]?.events ?? [])).replace(
    "</body>",
    () => `${written.block}\n</body>`,
  );
  return { ...stage, logs, written, page };
}

/** Somebody else: another folder, another home, nothing set up. */
function elsewhere(page: string) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-bob-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "report.html");
  writeFileSync(file, page);
  const cwd = path.join(folder, "work");
  mkdirSync(cwd);
  const env = { PATH: process.env["PATH"], HOME: folder, KEEL_HOME: path.join(folder, ".keel") };
  return { file, folder, cwd, env, home: openHome({ env, cwd }) };
}

async function replayed(page: string) {
  const { file, cwd, env, home } = elsewhere(page);
  const place = { env, cwd, sessions: home.sessions, nowMs: () => 0 };
  return Array.fromAsync(replaySessions(place, { from: { kind: "file", file } }));
}

const packedIn = (page: string): string => / data-sha256="\w+">([^<]+)</.exec(page)?.[1] ?? "";
const dataIn = (page: string): string => gunzipSync(Buffer.from(packedIn(page), "base64")).toString("utf8");

describe("a session as one file that replays", () => {
  test(
    "holds none of thirty secrets, in no spelling, and its requests are equal for somebody else",
    patience,
    async () => {
      verifies("P18", "P29");
      expect(new Set(planted).size).toBe(30);
      const { logs, written, page } = await recorded();
      const before = JSON.stringify(logs.map(({ events }) => events));
      for (const secret of planted) expect(before, secret).toContain(JSON.stringify(secret).slice(1, -1));

      const data = dataIn(page);
      const kept = JSON.parse(data);
      const files = Object.values(kept.blobs).map((content) =>
        Buffer.from(String(content), "base64").toString("utf8"),
      );
      expect(files.length).toBeGreaterThan(0);
      const everything = [page, data, ...files, JSON.stringify(kept.logs)].join("\n");
      for (const secret of planted) {
        for (const spelling of spellingsOf(secret))
          expect(everything.includes(spelling), spelling).toBe(false);
      }
      expect(written).toMatchObject({ differs: [], lost: 0 });

      const told = await replayed(page);
      expect(told.map(({ name }) => name)).toHaveLength(2);
      for (const { difference, requests, equalRequests, problems } of told) {
        expect([difference, problems]).toEqual([undefined, []]);
        expect(equalRequests).toBe(requests);
      }
      expect(told.map(({ requests }) => requests)).toEqual([7, 2]);
      expect(kept.settings.limits).toEqual({ maxTurns: 77 });
    },
  );

  test("is a page that loads nothing and runs nothing", patience, async () => {
    const { page } = await recorded();
    expect(page).toContain("default-src 'none'");
    expect(page.match(/<script[^>]*>/g)).toEqual([
      expect.stringContaining('type="application/x-keel-replay"'),
    ]);
    expect(page).not.toMatch(/(?:src|href)="(?!data:)/);
    expect(page).toContain("message 1");
  });

  test("is refused when a bit of it was changed, whichever it is", patience, async () => {
    verifies("P29");
    const { page } = await recorded();
    const start = page.indexOf("data-sha256=");
    const end = page.indexOf("</script>");
    const sum = /data-sha256="(\w)/.exec(page)?.[1];
    const other = page.replace(/data-sha256="\w/, `data-sha256="${sum === "1" ? "2" : "1"}`);
    await expect(readReplay("report.html", other)).rejects.toMatchObject({ code: "log_unreadable" });
    const chance = countingIds({ seed: seed() + 89 });
    for (let round = 0; round < countOf("flipped-bytes"); round++) {
      const at = start + Math.floor(chance.random() * (end - start));
      const bit = 1 << Math.floor(chance.random() * 7);
      const changed = page.slice(0, at) + String.fromCharCode(page.charCodeAt(at) ^ bit) + page.slice(at + 1);
      await expect(readReplay("report.html", changed), `bit ${bit} at ${at}`).rejects.toMatchObject({
        code: "log_unreadable",
      });
    }
  });

  test("runs its calls in a folder of somebody else, with the files that it has", patience, async () => {
    const { page, cwd: original, logs } = await recorded();
    const { file, cwd, env, home } = elsewhere(page);
    const { logs: kept, blobs } = await openReplay(file);
    const again = () =>
      replayEnvironment(
        { env, cwd, home: home.path, version: "0" },
        {
          logs: kept.map(({ events }) => events),
          blobs,
          cwd,
          mode: "acceptEdits",
          asked: "as then",
          timeoutMs: 60_000,
          signal: new AbortController().signal,
        },
      );
    const calls = logs.flatMap(({ events }) => events.filter(({ type }) => type === "tool.started")).length;
    expect(original).not.toBe(cwd);
    expect(await again()).toMatchObject({ difference: undefined, equalCalls: calls, notRun: [], lost: [] });
  });
});
