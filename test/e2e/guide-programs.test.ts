// Programs that the guide shows fit the types that were built, and run against the scripted model, those of a page in
// one folder and in their order. What stands for something of the reader's own is put in; all else is as it stands.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { examplesOf } from "../docs/examples.ts";
import { type Ended, keel } from "./command.ts";
import { command, openStage } from "./stage.ts";

const root = path.resolve(import.meta.dirname, "../..");

const recorded = path.resolve(import.meta.dirname, "../golden/logs/v1-decision-facts.jsonl");

const standIns: readonly (readonly [shown: string | RegExp, ours: string])[] = [
  ["@anthropic-ai/claude-agent-sdk", process.env["KEEL_OFFICIAL_SDK"] ?? "keel"],
  ['"/usr/local/bin/keel"', JSON.stringify(command)],
  ['"/srv/app"', "process.cwd()"],
  ['"session.jsonl"', JSON.stringify(recorded)],
  ['"https://api.anthropic.com"', "String(process.env.ANTHROPIC_BASE_URL)"],
  [
    /^\/\/ .*\brun your program\b.* (\w+)\.url\b.*$/im,
    'await (await import("./program.ts")).program($1.url);',
  ],
];

/** The reader's own program: it asks once, wherever it is told to. */
const program = `import { query } from "keel";

export async function program(url: string): Promise<void> {
  const env = { ...process.env, ANTHROPIC_BASE_URL: url };
  for await (const message of query({ prompt: "Mend the greeting", options: { env } }))
    if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
}
`;

/** Whoever wants an answer as data gets one. */
const asData = {
  when: { lastUserContains: "Who wrote the first program?" },
  reply: reply(toolUse("StructuredOutput", { people: [{ name: "Ada", born: 1815 }] })),
};

/** Those of a page, and those that are quoted from the examples: a reader pastes both. */
const programs = [...examplesOf("program"), ...examplesOf("quoted")].map((fence) => ({
  ...fence,
  file: `${path.basename(fence.page, ".md").toLowerCase()}-${fence.line}.ts`,
}));

describe("programs in the guide", () => {
  test("fit the types of the package", async () => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-guide-")));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writePrograms(folder, programs);
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    expect(await typesOf(folder)).toMatchObject({ code: 0, stdout: "" });
    writeFileSync(
      path.join(folder, "wrong.ts"),
      'import { query } from "keel";\nquery({ prompts: "typo" });\n',
    );
    expect((await typesOf(folder)).stdout).toMatch(/^wrong\.ts\(2,[^\n]*\n( [^\n]*\n)*$/);
  });

  test.each(standIns)("still show %s, for which something of ours is put in", (shown) => {
    expect(programs.filter(({ text }) => text.replace(shown, "") !== text)).not.toEqual([]);
  });

  test.each([...Map.groupBy(programs, ({ page }) => page)])("of %s run", async (_, ofPage) => {
    const stage = await openStage({ replies: [], rules: [asData], otherwise: reply("It is mended.") });
    const env = { ...stage.env, ANTHROPIC_API_KEY: "scripted" };
    writePrograms(stage.project, ofPage);
    if (ofPage.some(({ text }) => text.includes(exported))) await recordSession(stage);
    for (const { file, text } of ofPage) {
      const before = stage.server.requests.length;
      const ended = await node([file], { cwd: stage.project, env });
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      if (text.includes("console.log(")) expect(ended.stdout.trim()).not.toBe("");
      if (text.includes("query({")) expect(stage.server.requests.length).toBeGreaterThan(before);
    }
  });
});

/** What a page says that its reader has recorded and exported before. */
const exported = "test/sessions/mend-the-greeting.jsonl";

async function recordSession(stage: Awaited<ReturnType<typeof openStage>>): Promise<void> {
  const id = "0198c0de-0000-7000-8000-00000000000a";
  const prompt = ["--system-prompt", "You mend greetings."];
  const said = await stage.run(["-p", "Mend the greeting", ...prompt, "--session-id", id]);
  expect(said).toMatchObject({ code: 0, stdout: "It is mended.\n" });
  mkdirSync(path.join(stage.project, path.dirname(exported)), { recursive: true });
  expect(await stage.run(["sessions", "export", id, "--output", exported])).toMatchObject({ code: 0 });
}

const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ["node"],
  target: "esnext",
  module: "nodenext",
  allowImportingTsExtensions: true,
};

const typesOf = (folder: string): Promise<Ended> =>
  node([path.join(root, "node_modules/typescript/bin/tsc"), "--pretty", "false"], { cwd: folder });

function writePrograms(folder: string, written: typeof programs): void {
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "program.ts"), program);
  for (const { file, text } of written)
    writeFileSync(
      path.join(folder, file),
      standIns.reduce((code, [shown, ours]) => code.replace(shown, ours), text),
    );
}

const node = (parameters: readonly string[], options: { cwd: string; env?: Record<string, string> }) =>
  keel(parameters, { ...options, launcher: process.execPath });
