// `npm run record-gallery [-- act …]`: plays scripted sessions with the real engine, real tools and a real model server on this
// machine, and writes what they told into web/src/gallery/recorded/. The gallery and its tests show these events.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openHome } from "../keel/src/app/home.ts";
import type { OpenSession } from "../keel/src/app/open-session.ts";
import type { Ask } from "../keel/src/protocol/ask.ts";
import type { Command } from "../keel/src/protocol/command.ts";
import type { Envelope } from "../keel/src/protocol/event/envelope.ts";
import { startModelServer } from "../keel/src/testing/model-server.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../keel/src/testing/reply.ts";
import type { Reply, Script } from "../keel/src/testing/script.ts";

const out = path.resolve(import.meta.dirname, "../web/src/gallery/recorded");
const model = "claude-opus-5-5";
const shown = "/home/ada/shop";
/** When the first recorded session began, whenever it was recorded. */
const began = Date.UTC(2026, 10, 16, 9, 30);

const files: Readonly<Record<string, string>> = {
  "src/login.ts": [
    'import { clock } from "./clock.ts";',
    'import { createSession } from "./session.ts";',
    "",
    "/** Signs somebody in, and says until when. */",
    "export function login(name: string): { readonly name: string; readonly until: number } {",
    "  const session = createSession();",
    "  const now = clock.now();",
    "  return { name, until: session.startedAt + 3_600_000 };",
    "}",
    "",
  ].join("\n"),
  "src/session.ts": "export const createSession = (startedAt = 0) => ({ startedAt });\n",
  "src/clock.ts": "export const clock = { now: () => Date.now() };\n",
  "test/login.test.js": [
    "const green = (text) => `\\u001b[32m${text}\\u001b[0m`;",
    "const red = (text) => `\\u001b[31m${text}\\u001b[0m`;",
    "const { readFileSync } = require('node:fs');",
    "const isMended = readFileSync('src/login.ts', 'utf8').includes('createSession(now)');",
    "for (let index = 1; index <= 13; index += 1) console.log(`${green('✓')} login keeps the name of person ${index}`);",
    "console.log(isMended ? `${green('✓')} login holds for an hour` : `${red('✗')} login holds for an hour`);",
    "console.log(isMended ? `\\n\\u001b[1m14 passed\\u001b[0m` : `\\n${red('1 failed')}, 13 passed`);",
    "process.exitCode = isMended ? 0 : 1;",
  ].join("\n"),
  "README.md": "# Shop\n\nA shop with a login.\n",
};

/** One dot, so that an image is a real one. */
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAGAAAAAwCAIAAABhdOiYAAAAZUlEQVR42u3QAQ0AAAgDIN8/9K3hHFQgk2Y6VQQJEiRIkCBBggQJEiRIkCBBggQJEiRIkCBBggQJEiRIkCBBggQJEiRIkCBBggQJEiRIkCBBggQJEiRIkCBBggQJEiRIkCBBn7wFvYAAYZ2C3xQAAAAASUVORK5CYII=";

const edit = toolUse("Edit", {
  file_path: "{{cwd}}/src/login.ts",
  old_string: "  const session = createSession();\n  const now = clock.now();\n",
  new_string: "  const now = clock.now();\n  const session = createSession(now);\n",
});

const todos = (...statuses: readonly ("pending" | "in_progress" | "completed")[]) =>
  toolUse("TodoWrite", {
    todos: [
      ["Find out why the test fails", "Finding out why the test fails"],
      ["Mend the login", "Mending the login"],
      ["Run the tests", "Running the tests"],
      ["Look for the same mistake elsewhere", "Looking elsewhere"],
    ].map(([content = "", activeForm = ""], index) => ({
      content,
      activeForm,
      status: statuses[index] ?? "pending",
    })),
  });

const counted = {
  usage: { inputTokens: 412, outputTokens: 238, cacheReadTokens: 18_230, cacheWriteTokens: 1_204 },
};

type Act = {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly rules?: Script["rules"];
  readonly mode?: "default" | "acceptEdits" | "plan";
  play(stage: { session: OpenSession; asked(): Promise<Ask>; settled(): Promise<void> }): Promise<void>;
};

const say = (text: string, when: "now" | "after" = "now"): Command => ({
  type: "input",
  content: [{ type: "text", text }],
  when,
});

const acts: readonly Act[] = [
  {
    name: "login",
    mode: "acceptEdits",
    rules: [
      {
        when: { lastUserContains: "the same mistake elsewhere in the shop" },
        reply: replyWith(
          counted,
          "I search for sessions that are made without a time.",
          toolUse("Grep", { pattern: "createSession", path: "{{cwd}}/src" }),
        ),
        times: 1,
      },
      {
        when: { toolResultContains: "src/session.ts" },
        reply: replyWith(
          counted,
          "Only `src/login.ts` makes a session, and it is mended. Nothing else has the mistake.",
        ),
        times: 1,
      },
    ],
    replies: [
      replyWith(
        counted,
        thinking(
          "The test fails since the merge. The session is probably made before the clock is read, so that it starts at zero. I should read the login and the test before I change anything.",
          "proof",
        ),
        "I look at the login and at its test first.",
        toolUse("Read", { file_path: "{{cwd}}/src/login.ts" }),
        toolUse("Glob", { pattern: "**/*.{js,md}" }),
        todos("in_progress", "pending", "pending", "pending"),
      ),
      replyWith(
        counted,
        "The session is made **before** the clock is read, so it starts at `0` and every login is over at once. The order has to be the other way round.",
        edit,
        todos("completed", "completed", "in_progress", "pending"),
      ),
      replyWith(
        counted,
        "Now the tests.",
        toolUse("Bash", { command: "node test/login.test.js", description: "Run the tests of the login" }),
      ),
      replyWith(
        counted,
        "All 14 tests pass. An agent looks for the same mistake in the rest of the shop.",
        toolUse("Agent", {
          description: "look for the same mistake",
          prompt: "Look for the same mistake elsewhere in the shop: a session that is made without a time.",
          subagent_type: "general-purpose",
          run_in_background: false,
        }),
        todos("completed", "completed", "completed", "in_progress"),
      ),
      replyWith(
        counted,
        [
          "The login test passes again.",
          "",
          "- `src/login.ts` reads the clock first and gives the time to `createSession`",
          "- nothing else in the shop makes a session without a time",
          "",
          "```ts",
          "const now = clock.now();",
          "const session = createSession(now);",
          "```",
          "",
          "| what | before | after |",
          "|---|---:|---:|",
          "| tests that pass | 13 | 14 |",
          "| tests that fail | 1 | 0 |",
          "",
          "The session could also *require* its time, so that this cannot happen again. Shall I do that?",
        ].join("\n"),
        todos("completed", "completed", "completed", "completed"),
      ),
      replyWith(counted, "Say the word, and I make the time a required argument."),
      replyWith(
        counted,
        "I publish a preview of it.",
        toolUse("Bash", { command: "npm publish --tag next --dry-run", description: "Publish a preview" }),
      ),
    ],
    async play({ session, asked, settled }) {
      await session.submit(say("The login test fails since the merge. Please mend it."));
      const ask = await asked();
      await session.submit({
        type: "answer",
        askId: ask.id,
        answer: { verdict: "allow", option: "once" },
      });
      await settled();
      await session.submit(say("Yes, and publish a preview of it."));
      await asked();
      await session.submit(say("Then write a line in the changelog.", "after"));
    },
  },
  {
    name: "question",
    replies: [
      replyWith(
        counted,
        "Before I set this up I need to know two things.",
        toolUse("AskUserQuestion", {
          questions: [
            {
              question: "Which database should the shop use?",
              header: "Database",
              multiSelect: false,
              options: [
                { label: "PostgreSQL", description: "One more service to run; many writers at once." },
                { label: "SQLite", description: "A file beside the shop; one writer at a time." },
              ],
            },
            {
              question: "What should be kept of a person?",
              header: "Data",
              multiSelect: true,
              options: [
                { label: "Name", description: "As they write it." },
                { label: "Address", description: "Where parcels go." },
                { label: "Orders", description: "What they bought, for seven years." },
              ],
            },
          ],
        }),
      ),
    ],
    async play({ session, asked }) {
      await session.submit(say("Set up the database of the shop."));
      await asked();
    },
  },
  {
    name: "plan",
    mode: "plan",
    replies: [
      replyWith(
        counted,
        toolUse("ExitPlanMode", {
          plan: [
            "# A login that lasts",
            "",
            "1. Read the clock before the session is made",
            "2. Make the time a required argument of `createSession`",
            "3. Add a test that a login of an hour ago is over",
            "",
            "Nothing else changes. The tests run after each step.",
          ].join("\n"),
        }),
      ),
    ],
    async play({ session, asked }) {
      await session.submit(say("Plan how the login is mended, and change nothing yet."));
      await asked();
    },
  },
  {
    name: "edit",
    replies: [
      replyWith(
        counted,
        "I put the two lines in order.",
        toolUse("Read", { file_path: "{{cwd}}/src/login.ts" }),
      ),
      replyWith(counted, edit),
    ],
    async play({ session, asked }) {
      await session.submit(say("Mend the order in src/login.ts."));
      await asked();
    },
  },
  {
    name: "image",
    replies: [
      replyWith(
        counted,
        "I look at the picture.",
        toolUse("Read", { file_path: "{{cwd}}/logo.png" }),
        toolUse("Read", { file_path: "{{cwd}}/missing.md" }),
      ),
      replyWith(counted, "It is a plain grey field of 96 by 48 dots. `missing.md` is not there."),
    ],
    async play({ session, settled }) {
      await session.submit({
        type: "input",
        content: [
          { type: "image", mediaType: "image/png", data: dot },
          { type: "text", text: "Is logo.png the same picture as this one?" },
        ],
      });
      await settled();
    },
  },
  {
    name: "failed",
    replies: [reply("I begin."), httpError(401), httpError(401)],
    async play({ session, settled }) {
      await session.submit(say("Begin."));
      await settled();
      await session.submit(say("Go on."));
      await settled();
      await session.submit({
        type: "set",
        patch: { model: "claude-sonnet-5-5", permissionMode: "acceptEdits" },
      });
    },
  },
  {
    name: "shortened",
    replies: [
      replyWith(counted, "The shop has a login, a clock and sessions. Tests stand under `test/`."),
      reply(
        "The person asked what the shop has. It has a login, a clock and sessions; tests stand under `test/`.",
      ),
      replyWith(
        counted,
        "I start it in the background.",
        toolUse("Bash", {
          command: "node -e 'console.log(\"The shop is open\"); setInterval(() => {}, 1000)'",
          description: "Serve the shop",
          run_in_background: true,
        }),
      ),
      replyWith(counted, "It runs."),
    ],
    async play({ session, asked, settled }) {
      await session.submit(say("What does the shop have?"));
      await settled();
      await session.submit({ type: "compact" });
      await settled();
      await session.submit(say("Serve it."));
      const ask = await asked();
      await session.submit({ type: "answer", askId: ask.id, answer: { verdict: "allow", option: "once" } });
      await settled();
    },
  },
  {
    name: "streaming",
    mode: "acceptEdits",
    replies: [
      replyWith(
        { ...counted, chunkChars: 24, betweenMs: 10 },
        thinking("The prices are floats. Cents as integers are the usual way out of that.", "proof"),
        "I look at how prices are kept.",
        toolUse("Read", { file_path: "{{cwd}}/src/session.ts" }),
      ),
      replyWith(
        { ...counted, chunkChars: 24, betweenMs: 40 },
        [
          "Prices are floats today, so that sums are off by a cent now and then. There are two ways out:",
          "",
          "1. **Cents as integers.** Every sum is exact, and a price is divided by 100 where it is shown.",
          "2. **A decimal type.** Reads better, and costs a dependency that every caller has to know.",
          "",
          "I would take the first. It looks like this:",
          "",
          "```ts",
          "export type Cents = number & { readonly of: unique symbol };",
          "export const cents = (euros: number): Cents => Math.round(euros * 100) as Cents;",
          "```",
          "",
          "The shop has eleven places that add prices, and each of them",
          `becomes shorter by it. ${"More is being written here, word after word. ".repeat(40)}`,
        ].join("\n"),
      ),
    ],
    async play({ session }) {
      let written = "";
      // It is looked at while it is still being written.
      const isFar = new Promise<void>((resolve) => {
        session.onEvent((event) => {
          if (event.type === "text.delta") written += event.text;
          if (written.includes("eleven places")) resolve();
        });
      });
      await session.submit(say("How should the shop keep its prices?"));
      await isFar;
    },
  },
  {
    name: "interrupted",
    mode: "acceptEdits",
    replies: [
      replyWith(
        counted,
        "I measure it once more.",
        toolUse("Bash", { command: "sleep 60", description: "Measure the shop" }),
      ),
      replyWith(counted, "Stopped. Nothing was changed."),
    ],
    async play({ session, settled }) {
      await session.submit(say("Measure how fast the shop answers."));
      await new Promise((resolve) => setTimeout(resolve, 500));
      await session.submit(say("And then once more without the cache.", "after"));
      await session.submit({ type: "interrupt" });
      await settled();
    },
  },
];

const wanted = process.argv.slice(2);
for (const act of acts) if (wanted.length === 0 || wanted.includes(act.name)) await record(act);

async function record(act: Act): Promise<void> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "keel-gallery-")));
  const project = path.join(folder, "shop");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(project, name)), { recursive: true });
    await writeFile(path.join(project, name), content);
  }
  await writeFile(path.join(project, "logo.png"), Buffer.from(dot, "base64"));
  const filled = JSON.parse(
    JSON.stringify({ replies: act.replies, rules: act.rules }).replaceAll("{{cwd}}", project),
  );
  const server = await startModelServer({ script: filled, check: "none", law: "none" });
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "none",
    IS_SANDBOX: "1",
    // The list as one call writes it.
    KEEL_ENABLE_TASKS: "0",
  };
  const home = openHome({ cwd: project, env });
  const events: Envelope[] = [];
  const session = await home.open({
    version: "0.1.0",
    cwd: project,
    env,
    model,
    settingSources: [],
    permissionMode: act.mode ?? "default",
    asks: "answered",
  });
  let asked = 0;
  const took: Ask[] = [];
  session.onEvent((event) => events.push(event));
  for await (const event of session.history()) events.push(event);
  await act.play({
    session,
    settled: () => session.idle(),
    async asked() {
      for (const until = Date.now() + 10_000; Date.now() < until; ) {
        const [open] = session.openAsks();
        if (open && !took.includes(open)) {
          took.push(open);
          asked += 1;
          return open;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(
        `${act.name}: no question came after ${events
          .slice(-3)
          .map(({ type }) => type)
          .join(", ")}`,
      );
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const told = [...events];
  await session.close("stopped", "kept").catch(() => undefined);
  await home.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
  const shift = began - (told[0]?.at ?? 0);
  // The words of the prompt are not shown, and long.
  const light = told.map((event) =>
    event.type === "prompt.fixed" ? { ...event, system: ["…"], tools: [] } : event,
  );
  const text = JSON.stringify(light.map((event) => ({ ...event, at: event.at + shift })))
    .replaceAll(project, shown)
    .replaceAll(folder, "/home/ada");
  await mkdir(out, { recursive: true });
  const lines = (JSON.parse(text) as unknown[]).map((event) => JSON.stringify(event));
  await writeFile(path.join(out, `${act.name}.json`), `[\n${lines.join(",\n")}\n]\n`);
  console.log(`${act.name}: ${told.length} events, ${asked} questions`);
}
