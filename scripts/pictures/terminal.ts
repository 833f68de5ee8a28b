// The terminal screen, played on a real PTY with a scripted model: every row, dialog and screen, one scene after another.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Asked } from "../../keel/src/testing/answers.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { httpError, reply, replyWith, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";
import { pictureOf } from "../../test/tui/picture.ts";
import { openScreen, type Screen } from "../../test/tui/screen.ts";

export type PictureOptions = {
  readonly columns: number;
  readonly rows: number;
  readonly theme: "dark" | "light";
  /** Takes the picture of a scene. */
  take(name: string, svg: string): Promise<void>;
  /** Only scenes whose name has this in it. */
  readonly only?: string | undefined;
};

/** What the page about the terminal shows. */
export const shownInGuide: ReadonlySet<string> = new Set(["ask-command", "ask-edit-file", "screen-context"]);

type Scene = {
  readonly name: string;
  readonly parameters?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly rows?: number;
  replies?(project: string): readonly Reply[];
  /** For agents, which ask by themselves. */
  rules?(project: string): readonly { readonly has: string; readonly reply: Reply }[];
  play(at: Stage): Promise<void>;
};

type Stage = {
  readonly screen: Screen;
  readonly project: string;
  picture(name: string): Promise<void>;
  say(words: string): void;
  key(bytes: string): void;
  /** Until it stands on the screen. */
  sees(words: string): Promise<void>;
  asked(title: string): Promise<void>;
  ready(): Promise<void>;
};

const enter = "\r";
const esc = "\u001b";

const login = [
  'import { clock } from "./clock.ts";',
  'import { createSession } from "./session.ts";',
  "",
  "/** Signs somebody in, and says until when. */",
  "export function login(name: string) {",
  "  const now = clock.now();",
  "  const session = create();",
  "  return { name, until: session.startedAt + 3_600_000 };",
  "}",
  "",
].join("\n");

const test = [
  "console.log('\\u001b[32m✓\\u001b[0m 14 tests');",
  "console.log('\\u001b[31m✗\\u001b[0m 1 test: login keeps the time');",
  "setTimeout(() => process.exit(1), Number(process.argv[2] ?? 0));",
  "",
].join("\n");

const mended = {
  old_string: "const session = create();",
  new_string: "const session = create(now);",
};

const words =
  "The session is made **before** the clock is set, so `until` is an hour too early. Two places need a change:\n\n1. `login.ts` must give the time on\n2. `session.ts` must take it\n\n| file | change | tests |\n|---|---|---:|\n| src/login.ts | gives the time | 14 |\n| src/session.ts | takes it | 3 |\n\n```ts\nexport const create = (now = clock.now()) => ({ startedAt: now }); // one way\n```\n\n> Nothing else reads it.\n\nSee [the guide](https://example.org/clock) for more.";

const steps = [
  { subject: "Read the test", description: "What it wants", activeForm: "Reading the test" },
  { subject: "Mend the login", description: "Give the time on", activeForm: "Mending the login" },
  { subject: "Run all tests", description: "With a fixed clock", activeForm: "Running all tests" },
];

const plan =
  "# Mend the login\n\n1. Give the time to `create`\n2. Add a test with a fixed clock\n3. Run all tests\n\nNothing else changes.";

const scenes: readonly Scene[] = [
  {
    name: "work",
    parameters: ["--permission-mode", "acceptEdits"],
    replies: (project) => [
      reply(
        "I look at the test first.",
        toolUse("Read", { file_path: path.join(project, "src/login.ts") }),
        toolUse("Grep", { pattern: "create", output_mode: "files_with_matches" }),
      ),
      reply(words, toolUse("Edit", { file_path: path.join(project, "src/login.ts"), ...mended })),
      reply(toolUse("Bash", { command: "node test.js 3000 && npm audit fix", description: "Run the tests" })),
      reply("One test still fails: the session must take the time."),
    ],
    async play({ picture, say, key, asked, sees, ready }) {
      say("The login test fails since the merge. Please mend it.");
      await asked("Run a command?");
      await picture("ask-command");
      key("n");
      await sees("Enter says no");
      await picture("ask-say-no");
      key(esc);
      await sees("Allow once");
      key("e");
      await sees("Enter allows it");
      await picture("ask-edit");
      key(esc);
      await sees("Allow once");
      key("a");
      await sees("For how long?").catch(() => undefined);
      await picture("ask-keep");
      key(esc);
      await sees("Allow once");
      key("y");
      await sees("1 test");
      await picture("running");
      await sees("must take the time");
      await ready();
      await picture("work");
      key("\u000f");
      await sees("Transcript");
      await picture("transcript");
      key(esc);
      await ready();
      say("/rewind");
      await sees("Go back");
      key(enter);
      await sees("Files and conversation");
      await picture("rewind-preview");
    },
  },
  {
    name: "ask-edit-file",
    replies: (project) => [
      reply(toolUse("Read", { file_path: path.join(project, "src/login.ts") })),
      reply("I mend it.", toolUse("Edit", { file_path: path.join(project, "src/login.ts"), ...mended })),
    ],
    async play({ picture, say, asked }) {
      say("Mend the login.");
      await asked("Change a file?");
      await picture("ask-edit-file");
    },
  },
  {
    name: "ask-page",
    replies: () => [
      reply("I read it.", toolUse("WebFetch", { url: "https://example.org/clock", prompt: "What is it?" })),
    ],
    async play({ picture, say, asked }) {
      say("Read the page.");
      await asked("Fetch a page?");
      await picture("ask-page");
    },
  },
  {
    name: "question",
    replies: () => [
      reply(
        "I have to know one thing.",
        toolUse("AskUserQuestion", {
          questions: [
            {
              question: "Which database should the sessions live in?",
              header: "Database",
              multiSelect: false,
              options: [
                { label: "SQLite", description: "one file, no server" },
                { label: "PostgreSQL", description: "many machines" },
                { label: "None", description: "keep them in memory" },
              ],
            },
            {
              question: "Which tests should run?",
              header: "Tests",
              multiSelect: true,
              options: [
                { label: "Unit", description: "fast" },
                { label: "Browser", description: "slow" },
              ],
            },
          ],
        }),
      ),
      reply("Good: SQLite."),
    ],
    async play({ picture, say, key, asked, sees }) {
      say("Store the sessions.");
      await asked("Which database");
      await picture("question");
      key("1");
      await sees("Which tests");
      await picture("question-several");
    },
  },
  {
    name: "plan",
    parameters: ["--permission-mode", "plan"],
    replies: () => [reply("Here is my plan.", toolUse("ExitPlanMode", { plan })), reply("I begin.")],
    async play({ picture, say, sees }) {
      say("Plan it first.");
      await sees("Give the time");
      await sees("fixed clock");
      await picture("plan");
    },
  },
  {
    name: "todo",
    replies: () => [
      reply("I write down what is to do.", ...steps.map((step) => toolUse("TaskCreate", step))),
      reply(
        toolUse("TaskUpdate", { taskId: "1", status: "completed" }),
        toolUse("TaskUpdate", { taskId: "2", status: "in_progress" }),
      ),
      replyWith({ betweenMs: 300, chunkChars: 4 }, "I mend the login now, and then I run all tests of it."),
    ],
    async play({ picture, say, sees, key }) {
      say("Do it step by step.");
      await sees("I mend the login");
      key("\u0014");
      await picture("todo");
    },
  },
  {
    name: "agents",
    parameters: ["--permission-mode", "acceptEdits"],
    replies: () => [
      reply(
        "Two agents look at it.",
        toolUse("Agent", { description: "review", prompt: "REVIEW the login", run_in_background: false }),
        toolUse("Agent", { description: "clock", prompt: "CLOCK of the login", run_in_background: false }),
      ),
      reply("Both are done."),
    ],
    rules: () => [
      { has: "REVIEW", reply: reply("I run it.", toolUse("Bash", { command: "npm publish --dry-run" })) },
      {
        has: "CLOCK",
        reply: replyWith(
          { delayMs: 500, betweenMs: 400, chunkChars: 3 },
          "I look at the clock of the login for a while, line by line.",
        ),
      },
    ],
    async play({ picture, say, asked, key, sees }) {
      say("Let two agents look.");
      await asked("Run a command?");
      await picture("ask-agent");
      key("\u001ba");
      key("n");
      key(enter);
      await sees("0 calls");
      key("\u001ba");
      await picture("agents");
    },
  },
  {
    name: "panels",
    replies: () => [
      replyWith(
        { usage: { inputTokens: 4_200, cacheReadTokens: 31_000, outputTokens: 640 } },
        "It is mended.",
      ),
    ],
    async play({ picture, say, key, sees, ready }) {
      say("The login test fails since the merge. Please mend it.");
      await sees("It is mended.");
      await ready();
      const open = async (command: string, title: string): Promise<void> => {
        say(`/${command}`);
        await sees(title);
        await new Promise((resolve) => setTimeout(resolve, 400));
        await picture(`screen-${command}`);
        key(esc);
        await new Promise((resolve) => setTimeout(resolve, 150));
      };
      await open("config", "Settings");
      await open("permissions", "Rules");
      await open("mcp", "MCP servers");
      await open("agents", "Agents");
      await open("tasks", "Tasks");
      await open("context", "Context");
      await open("cost", "Cost");
      await open("rewind", "Go back");
      await open("resume", "Sessions");
      await open("model", "Model");
      await open("help", "Commands");
      await open("doctor", "Doctor");
      await open("export", "Write this session");
      await open("status", "Status");
      key("?");
      await sees("Everywhere");
      await picture("screen-keys");
      key(esc);
      await new Promise((resolve) => setTimeout(resolve, 150));
      key("/mo");
      await sees("/model");
      await picture("palette");
      key("\u0015");
      key("@log");
      await sees("src/login.ts");
      await picture("mention");
      key("\u0015");
      key("\u0012");
      await sees("What you typed before");
      await picture("history");
    },
  },
  {
    name: "trouble",
    replies: (project) => [
      reply(
        thinking("The file may not be there."),
        "I read two files.",
        toolUse("Read", { file_path: path.join(project, "missing.ts") }),
        toolUse("Bash", { command: "cat missing.ts", description: "Show it" }),
      ),
      httpError(400, { type: "invalid_request_error", message: "prompt is too strange" }),
    ],
    async play({ picture, say, sees, ready }) {
      say("Read the missing file.");
      await sees("strange");
      await ready();
      await picture("trouble");
    },
  },
  {
    name: "own",
    replies: () => [
      replyWith(
        { betweenMs: 200, chunkChars: 3 },
        "I see what you ran, and I think about it for a good while.",
      ),
    ],
    async play({ picture, say, key, sees }) {
      say("!node test.js");
      await sees("1 test");
      say("What is wrong?");
      await sees("I see what");
      key("and look at the clock too");
      key("\u001b\r");
      await sees("queued");
      key("also here");
      await picture("queue");
    },
  },
  {
    name: "no-key",
    env: { ANTHROPIC_API_KEY: "", KEEL_MODEL: "", ANTHROPIC_BASE_URL: "" },
    async play({ picture, sees }) {
      await sees("key");
      await picture("no-key");
    },
  },
];

/** Recorded sessions on the same screen: rows, displays, questions and lists that no short play comes to. */
export async function recordedScenes({ columns, theme, take, only }: PictureOptions): Promise<void> {
  const { goldenScenes } = await import("../../test/tui/scenes.ts");
  const { playScenes } = await import("../../test/tui/play.ts");
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-pictures-")));
  const named = (words: string): string => words.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "");
  try {
    await playScenes({
      columns,
      env: { COLORFGBG: theme === "dark" ? "15;0" : "0;15" },
      scenes: goldenScenes.filter(({ name }) => only === undefined || name.includes(only)),
      folder,
      picture: ({ scene, said, screen }) => {
        const name = named(`recorded ${scene} ${said}`);
        return take(name, pictureOf(screen, { theme, title: name, cursor: cursorOf(screen) }));
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const cursorOf = (screen: Screen): "hidden" | "shown" =>
  /.*\?25([hl])/s.exec(screen.written.join(""))?.[1] === "l" ? "hidden" : "shown";

export async function terminalScenes(options: PictureOptions): Promise<void> {
  for (const scene of scenes) {
    if (options.only !== undefined && !scene.name.includes(options.only)) continue;
    await playScene(scene, options);
  }
}

async function playScene(scene: Scene, { columns, rows, theme, take }: PictureOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-pictures-")));
  const project = path.join(folder, "shop");
  mkdirSync(path.join(project, "src"), { recursive: true });
  writeFileSync(path.join(project, "src/login.ts"), login);
  writeFileSync(path.join(project, "test.js"), test);
  const replies = scene.replies?.(project) ?? [];
  const rules = scene.rules?.(project) ?? [];
  const server = await startModelServer({
    script: (request: unknown, asked: Asked) => {
      const said = JSON.stringify(request);
      const rule = rules.find(({ has }) => said.includes(has) && !said.includes("Two agents look"));
      if (rule) return asked.assistantTurns === 0 ? rule.reply : reply("Nothing was found.");
      return replies[asked.assistantTurns] ?? reply("That is all.");
    },
  });
  const source = process.env["KEEL_SCREEN_SOURCE"];
  const command = path.resolve(import.meta.dirname, "../../node_modules/.bin/keel");
  const screen = openScreen({
    command: source ? process.execPath : command,
    parameters: [...(source ? [source] : []), ...(scene.parameters ?? [])],
    cwd: project,
    columns,
    rows: scene.rows ?? rows,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      PWD: project,
      KEEL_HOME: path.join(folder, ".keel"),
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "a-key-that-is-none",
      KEEL_MODEL: "claude-opus-5-5",
      IS_SANDBOX: "1",
      COLORFGBG: theme === "dark" ? "15;0" : "0;15",
      ...scene.env,
    },
  });
  const seen =
    (text: string) =>
    ({ rows: now }: Screen): boolean =>
      now().join("\n").includes(text);
  const stage: Stage = {
    screen,
    project,
    async picture(name) {
      await screen.settled(120).catch(() => undefined);
      await take(name, pictureOf(screen, { theme, title: name, cursor: cursorOf(screen) }));
    },
    say(text) {
      screen.type(text);
      screen.type(enter);
    },
    key: (bytes) => screen.type(bytes),
    sees: (text) => screen.until(text, seen(text)),
    async asked(title) {
      await screen.until(title, seen(title));
      await screen.until("keys", ({ rows: now }) => !now().join("\n").includes("pause typing"));
      await screen.settled(350);
    },
    ready: () => screen.until("the input", seen("type, / commands")),
  };
  try {
    if (scene.name !== "no-key") await stage.ready();
    await scene.play(stage);
  } catch (thrown) {
    console.error(`${scene.name}: ${String(thrown)}`);
  } finally {
    screen.kill("SIGKILL");
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
