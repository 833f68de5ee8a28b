// Every line of a shell that the guide shows is typed, page by page, into one shell in a project with a session behind
// it, and ends with 0. The model is scripted; addresses, ids and servers of others are put in for those that are shown.
// What needs the network, a person or minutes is named below with its reason; a line that is new is run.
import { execFileSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { inputSchema } from "../../keel/src/protocol/event/durable.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { examplesOf, withKey } from "../docs/examples.ts";
import { loopback } from "../support/loopback.ts";
import { everything, freePort, startRemote } from "../support/mcp-stage.ts";
import { type Line, linesIn, typeLines } from "./guide-shell.ts";
import { command, logsIn, openStage, type Stage } from "./stage.ts";

const patience = { timeout: 60_000 };
const root = path.resolve(import.meta.dirname, "../..");

/** Not run here, by what they start with. */
const named: readonly (readonly [start: string, because: string])[] = [
  ["npm ci && ", "installs from a registry; what follows it is how this test is run"],
  ["npm start -- --console", "stays until it is ended; browser tests run the command that it ends in"],
  ["npm test -- ", "a suite of ours: that it exists is tested below"],
  ["npm run test:long -- ", "a suite of ours: that it exists is tested below"],
  ["npm run bench", "takes minutes; test/e2e/bench.test.ts runs it, and draws its chart"],
  ["npm run build", "this test is run after it"],
  ["npm pack ./keel", "packs what stands here; package.test.ts looks at what is in it"],
  ["npm pkg set ", "changes the package.json of a program of others"],
  ["npm install", "installs from a registry, and a package that was packed before"],
  ["keel mcp login ", "a person says yes in a browser"],
  [
    "keel sessions move --to postgres",
    "needs a database; store/move-logs.test.ts moves to a real one and back",
  ],
  ["keel plugin add npm:", "a registry gives it"],
];

/** The whole of a line. */
const namedWhole = new Map([["keel", "needs a terminal; test/e2e/screen.test.ts has one"]]);

const collector = "http://127.0.0.1:4318";

/** Another prompt makes other requests, and the scripted model renames nothing: that is found, and the exit code says so. */
const finds = (text: string): boolean => /^keel (replay \S+ --prompt|eval cases) /.test(text);

const isNamed = (text: string): boolean =>
  named.some(([start]) => text.startsWith(start)) || namedWhole.has(text.replace(/\s+#.*$/, ""));
const lines = linesIn(examplesOf("commands"));
const typed = lines.filter(({ text }) => !isNamed(text));

describe("lines of a shell in the guide", () => {
  test.each([...Map.groupBy(typed, ({ page }) => page)])("of %s end well", patience, async (_, ofPage) => {
    const stage = await openStage({
      replies: [reply(toolUse("Write", { file_path: "greeting.js", content: "hello\n" })), reply("Done.")],
      otherwise: reply("ok"),
    });
    prepare(stage);
    const env = environmentOf(stage);
    const first = ["-p", "Mend the greeting", "--permission-mode", "acceptEdits"];
    expect(await stage.run(first, { env })).toMatchObject({ code: 0 });
    const put = await standIns(stage, ofPage);
    const ended = await typeLines(
      ofPage.map((line) => ({ ...line, text: put(line.text) })),
      { cwd: stage.project, env },
    );
    expect(ended.filter(({ code, text }) => code !== (finds(text) ? 1 : 0))).toEqual([]);
    // The console leaves a server behind, as it should.
    if (ofPage.some(({ text }) => text.startsWith("keel console")))
      expect(await stage.run(["serve", "--stop"], { env })).toMatchObject({ code: 0 });
  });

  test("end otherwise when they are wrong", async () => {
    const stage = await openStage({ replies: [] });
    const texts = [
      "keel sessions show 01a1e164-2f3d-7829-b3b4-7420804a8b5f",
      "false | true",
      "keel doctor --typo",
      "true",
    ];
    const wrong = texts.map((text, index) => ({ page: "new.md", line: index, text }));
    const ended = await typeLines(wrong, { cwd: stage.project, env: environmentOf(stage) });
    expect(ended.map(({ code }) => code)).toEqual([66, 1, 64, 0]);
  });

  test.each(named)("that start with %s are still there; not run: %s", (start) => {
    expect(lines.filter(({ text }) => text.startsWith(start))).not.toEqual([]);
  });

  const suites = lines.flatMap(({ text }) => /^npm (?:test|run test:long) -- ([\w-]+)/.exec(text)?.[1] ?? []);
  test.each(suites)("name the suite %s, which exists", (suite) => {
    expect(globSync(`test/{,e2e/,long/}${suite}.test.ts`, { cwd: root })).not.toEqual([]);
  });
});

/** No key but one that opens nothing, and the model that the default names. */
function environmentOf({ env: { KEEL_MODEL: _, ...env }, home }: Stage): Record<string, string> {
  return {
    ...env,
    PATH: [path.join(home, "../bin"), path.dirname(command), process.env["PATH"]].join(path.delimiter),
    ANTHROPIC_API_KEY: "scripted",
    TRACKER_TOKEN: "token",
    TMPDIR: path.dirname(home),
    // Enough for a server that a line before has just started.
    KEEL_MAX_RETRIES: "5",
  };
}

const newer = {
  id: "gpt-99",
  name: "GPT 99",
  provider: "openai",
  windowTokens: 9_000,
  maxOutputTokens: 900,
  prices: { input: 7, output: 8, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1, asOf: "2027-01-01" },
  abilities: { tools: true, images: false, thinking: "none", cache: false },
};

/** What a reader has: a repository, the files that lines name, and the programs of others. */
function prepare({ project, home }: Stage): void {
  const files: Record<string, string> = {
    "prompt.txt": "Look around.\n",
    "prompt.md": "Look around, and be brief.\n",
    "key.txt": "sk-scripted\n",
    "newer.json": JSON.stringify([newer]),
    "package.json": JSON.stringify({ scripts: { test: "node --version" } }),
    "other.txt": "Written elsewhere.\n",
    "old.md": "Be brief.\n",
    "new.md": "Be thorough.\n",
    "is-bad.mjs": 'export default (state) => JSON.stringify(state).includes("greeting.js");\n',
  };
  for (const { label, text } of [...examplesOf("rules"), ...examplesOf("file"), ...examplesOf("named")])
    files[label] = text;
  for (const [name, text] of Object.entries(files).filter(([name]) => !name.startsWith("~"))) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  }
  const said = { type: "user", parentUuid: null, message: { role: "user", content: "Look around." } };
  for (const [name, number] of [
    ["old-conversation.jsonl", 1],
    ["conversations/another.jsonl", 2],
  ] as const) {
    const uuid = `0196f0c2-1111-4222-8333-00000000000${number}`;
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(
      path.join(project, name),
      `${JSON.stringify({ ...said, uuid, sessionId: uuid, cwd: project })}\n`,
    );
  }
  const programs = path.join(home, "../bin");
  mkdirSync(programs);
  writeFileSync(path.join(programs, "uvx"), `#!/bin/sh\nexec "${process.execPath}" "${everything}" stdio\n`);
  chmodSync(path.join(programs, "uvx"), 0o755);
  const plugin = path.join(project, "greeter");
  for (const cwd of [project, plugin]) execFileSync("git", ["init", "--quiet"], { cwd });
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const words of [
    ["add", "."],
    [...who, "commit", "--quiet", "-m", "first"],
    ["tag", "v1.0.0"],
  ])
    execFileSync("git", words, { cwd: plugin });
}

/** Ours for what stands in a line: addresses, ids, and the word of a person. */
async function standIns(stage: Stage, ofPage: readonly Line[]): Promise<(text: string) => string> {
  const [session = ""] = stage.sessions();
  const accepted = stage.log().find(({ type }) => type === "input.accepted");
  const { id: message } = inputSchema.parse(accepted?.["input"]);
  const finished = stage.log().find(({ type }) => type === "tool.finished");
  const port = String(await freePort());
  const tracker = "https://tracker.example.org/mcp";
  const plugin = path.join(stage.project, "greeter");
  // A collector of spans; its page alone sends to one.
  const isCollected = ofPage.some(({ text }) => text.includes(collector));
  const collects = isCollected ? await loopback((response) => void response.end("{}")) : undefined;
  if (collects) onTestFinished(() => collects.close());
  const isTracked = ofPage.some(({ text }) => text.includes(tracker));
  const put: readonly (readonly [shown: string | RegExp, ours: string])[] = [
    [/http:\/\/127\.0\.0\.1:(8080|11434)|https:\/\/api\.anthropic\.com/g, stage.server.url],
    ["8100", port],
    [tracker, isTracked ? (await startRemote("streamableHttp")).url : tracker],
    [/\b(SESSION|ID|01a1e164-2f3d-7829-b3b4-7420804a8b5f)\b/g, session],
    [/\bMESSAGE\b/g, message],
    [collector, collects?.url ?? collector],
    ["--check logs", `--check "${path.dirname(logsIn(path.join(stage.home, "projects"))[0] ?? "")}"`],
    // What began to fail in the session that is behind the reader.
    [/(?<=^keel bisect .*-- )npm test\b/g, "test ! -e greeting.js"],
    ["cannot find module", "greeting.js"],
    // It says what it would cost, and waits for a person's word.
    [/^keel what-if /g, "$&--yes "],
    ["--at 240", `--at ${String(finished?.["seq"])}`],
    ["src/parse.ts:42", "greeting.js:1"],
    ["git+https://example.org/greeter.git", `git+file://${plugin}`],
    [/^keel plugin add \S+/g, "$& --yes"],
  ];
  return (text) => put.reduce((line, [shown, ours]) => line.replaceAll(shown, ours), withKey(text));
}
