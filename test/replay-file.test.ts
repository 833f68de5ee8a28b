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
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { documentOf } from "../keel/src/view/document.ts";
import { toHtml } from "../keel/src/view/html.ts";
import { countOf, seed } from "./support/budget.ts";
import { agree, say, scriptedHome } from "./support/scripted-home.ts";
import { verifies } from "./support/verifies.ts";

const patience = { timeout: 60 * 60_000 };

const letters = (from: number, length: number): string =>
  Array.from({ length }, (_, at) => "qWx7Zk2Lp9Vb4Ns8Tf3Hg6Jd"[(from * 7 + at * 5) % 24]).join("");

/** Thirty secrets: those that Keel knows from the environment first, then those that look like one, by many shapes. */
const known = {
  DEPLOY_TOKEN: `deploy-${letters(1, 18)}`,
  DATABASE_PASSWORD: `p@ss/${letters(2, 14)}+"x`,
  MY_SECRET: `plain words nobody else says ${letters(3, 6)}`,
  SIGNING_KEY: `line one ${letters(4, 10)}\nline two ${letters(5, 10)}`,
  SERVICE_CREDENTIAL: `ümläut-${letters(6, 12)}`,
};
const shaped: readonly string[] = [
  `sk-ant-api03-${letters(7, 24)}`,
  `sk-proj-${letters(8, 24)}`,
  `sk_live_${letters(9, 24)}`,
  `rk_test_${letters(10, 20)}`,
  `lin_api_${letters(11, 20)}`,
  `eyJhbGciOiJIUzI1NiJ9.${letters(12, 20)}.${letters(13, 20)}`,
  `AKIA${letters(14, 16).toUpperCase()}`,
  `ASIA${letters(15, 16).toUpperCase()}`,
  `ghp_${letters(16, 30)}`,
  `gho_${letters(17, 30)}`,
  `github_pat_${letters(18, 30)}`,
  `glpat-${letters(19, 20)}`,
  `npm_${letters(20, 30)}`,
  `hf_${letters(21, 30)}`,
  `xoxb-${letters(22, 24)}`,
  `AIza${letters(23, 32)}`,
];
/** What stands around them says what they are; alone they look like any word. */
const told: readonly (readonly [secret: string, words: string])[] = [
  [`b${letters(24, 22)}`, `authorization: Bearer b${letters(24, 22)}`],
  [`w${letters(25, 12)}`, `postgres://alice:w${letters(25, 12)}@db.example/main`],
  [`x${letters(26, 14)}`, `password: x${letters(26, 14)}`],
  [`y${letters(27, 14)}`, `{"client_secret": "y${letters(27, 14)}"}`],
  [`z${letters(28, 14)}`, `STRIPE_API_KEY=z${letters(28, 14)}`],
  [`c${letters(29, 14)}`, `db_passwd='c${letters(29, 14)}'`],
  [`d${letters(30, 14)}`, `access_key: d${letters(30, 14)}`],
  [`e${letters(31, 14)}`, `passphrase = "e${letters(31, 14)}"`],
  [
    `MII${letters(32, 40)}`,
    `-----BEGIN RSA PRIVATE KEY-----\nMII${letters(32, 40)}\n${letters(33, 40)}\n-----END RSA PRIVATE KEY-----`,
  ],
];
const planted = [...Object.values(known), ...shaped, ...told.map(([secret]) => secret)];
const words = [...Object.values(known), ...shaped, ...told.map(([, each]) => each)];

/** They come in by every way: a person, files, instructions, commands, edits, thoughts, agents and answers. */
async function recorded() {
  const at = new Map<string, number>();
  const third = (number: number): string => words.filter((_, index) => index % 3 === number).join("\n");
  const stage = await scriptedHome(
    (body) => {
      const said = JSON.stringify(body);
      const lane = said.includes("Task of ants") && !said.includes("message 1") ? "ants" : "main";
      const place = at.get(lane) ?? 0;
      at.set(lane, place + 1);
      if (lane === "ants")
        return (
          [reply("", toolUse("Read", { file_path: "keys.txt" })), reply(`Seen:\n${third(1)}`)][place] ??
          reply("")
        );
      const start = { description: "Look", prompt: `Task of ants: ${third(2)}`, run_in_background: false };
      const steps = [
        reply(`I think of ${words[6]}`, toolUse("Bash", { command: "cat keys.txt" })),
        reply("", toolUse("Read", { file_path: "keys.txt" })),
        reply(
          "",
          toolUse("Edit", { file_path: "keys.txt", old_string: "first", new_string: `second ${words[8]}` }),
        ),
        reply("", toolUse("Write", { file_path: "more.txt", content: third(0) })),
        reply("", toolUse("Agent", start)),
        reply(`It said ${told.map(([secret]) => secret).join(" and ")}.`),
      ];
      return steps[place] ?? reply("Done.");
    },
    {
      settings: { permissions: { allow: ["Bash"], defaultMode: "acceptEdits" }, limits: { maxTurns: 77 } },
      env: known,
    },
  );
  writeFileSync(path.join(stage.cwd, "keys.txt"), `first\n${words.join("\n")}\n`);
  writeFileSync(path.join(stage.cwd, "AGENTS.md"), `Use ${words.join(" or ")}.\n`);
  const session = await stage.home.open({ ...stage.options, checkpoints: "on" });
  agree(session);
  for (const message of [`message 1 ${third(1)}`, "message 2"]) {
    await say(session, message);
    await session.idle();
  }
  await session.close("ended");
  const logs = await Array.fromAsync(
    logsWithAgents(stage.home.sessions, session.id, (text) => expect.fail(text)),
  );
  const place = { env: stage.env, cwd: stage.cwd, home: stage.home.path, version: "0" };
  const written = await writeReplay(place, logs);
  const page = toHtml(documentOf(written.logs[0]?.events ?? [])).replace(
    "</body>",
    () => `${written.block}\n</body>`,
  );
  return { ...stage, id: session.id, logs, written, page };
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
        const found = [
          secret,
          JSON.stringify(secret).slice(1, -1),
          Buffer.from(secret).toString("base64").slice(0, -4),
        ];
        for (const spelling of found) expect(everything.includes(spelling), spelling).toBe(false);
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
