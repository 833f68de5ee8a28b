// Where an earlier command left the shell the next one starts, and is decided about: with real folders and processes.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realClock, realWorkspace } from "../../../test/support/real-workspace.ts";
import { memoryLog, openTestSession, type TestSessionOptions } from "../../../test/support/test-session.ts";
import { noRules } from "../policy/decide.ts";
import { parseRule } from "../policy/rules.ts";
import type { Durable } from "../protocol/event/durable.ts";
import { textOf } from "../protocol/message.ts";
import { replayDecisions } from "../testing/replay-decisions.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { nodeCommandPlace } from "../workspace/git/command-place.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { builtInTools } from "./catalog.ts";

const grammar = openGrammar();
let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-kept-")));
  for (const folder of ["sub/deep", "sub/secrets", "secrets"]) mkdirSync(at(folder), { recursive: true });
  for (const file of ["secrets/db.txt", "sub/secrets/mine.txt", "sub/notes.txt"])
    writeFileSync(at(file), `this is ${file}\n`);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);

const workspace = () => ({
  ...realWorkspace({ cwd: root }),
  commands: {
    grammar,
    home: "/home/nobody",
    isTrusted: true,
    place: nodeCommandPlace({ project: root, env: {} }),
  },
});

type Call = string | readonly [tool: string, input: Record<string, string | boolean>];

/** Each entry is a reply: one call, or several. */
async function session(
  replies: readonly (Call | readonly Call[])[],
  options: Partial<TestSessionOptions> = {},
  watch: (event: { type: string }) => void = () => undefined,
) {
  const use = (call: Call) =>
    typeof call === "string" ? toolUse("Bash", { command: call }) : toolUse(call[0], call[1]);
  const isOne = (entry: Call | readonly Call[]): entry is Call =>
    typeof entry === "string" ||
    (entry.length === 2 && !Array.isArray(entry[1]) && typeof entry[1] === "object");
  const events: Durable[] = [];
  const opened = await openTestSession({
    tools: builtInTools(),
    workspace: workspace(),
    clock: realClock,
    log: memoryLog({ events }),
    script: {
      replies: [
        ...replies.map((entry) => reply(...(isOne(entry) ? [use(entry)] : entry.map(use)))),
        reply("Done."),
        reply(use("pwd")),
        reply("Done."),
      ],
    },
    ...options,
  });
  opened.session.onEvent(watch);
  await opened.say("go", { id: randomUUID() });
  const said = () => opened.all("tool.finished").map(({ content }) => textOf(content));
  return { ...opened, said, asks: opened.all("ask.opened").map(({ ask }) => ask), log: events };
}

const deny = (...texts: string[]) => ({
  ...noRules,
  deny: texts.map((text) => parseRule(text, "user") ?? expect.fail(text)),
});

describe("a command starts where the last one ended", () => {
  test("which stands in the log, and in what the next decision rested on", async () => {
    const { said, all } = await session([
      "cd sub",
      "pwd",
      "cd deep && export X=1",
      'pwd; echo "[$X]"',
      "cd ../..",
      "pwd",
    ]);
    expect(said()).toEqual([
      "(Bash completed with no output)",
      at("sub"),
      "(Bash completed with no output)",
      `${at("sub/deep")}\n[]`,
      "(Bash completed with no output)",
      root,
    ]);
    expect(all("tool.finished").map(({ keptFolder }) => keptFolder)).toEqual([
      at("sub"),
      undefined,
      at("sub/deep"),
      undefined,
      null,
      undefined,
    ]);
    expect(all("tool.started").map(({ facts }) => [facts?.cwd, facts?.roots])).toEqual([
      [root, undefined],
      [at("sub"), [root]],
      [at("sub"), [root]],
      [at("sub/deep"), [root]],
      [at("sub/deep"), [root]],
      [root, undefined],
    ]);
  });

  test("also within one reply, where those that only read would run beside each other", async () => {
    const { said } = await session([["cd sub", "pwd", "cd deep", "pwd", "cat ../notes.txt"]]);
    expect(said()).toEqual([
      expect.anything(),
      at("sub"),
      expect.anything(),
      at("sub/deep"),
      "this is sub/notes.txt",
    ]);
  });

  test("but never outside: then where it was, and the model is told", async () => {
    symlinkSync("/", at("sub/out"));
    const { said } = await session(["cd sub", "cd /", "cd out", "pwd"]);
    const told = `(Bash completed with no output)\n[The next command starts in ${at("sub")} again: / is no folder of the workspace]`;
    expect(said().slice(1)).toEqual([told, told, at("sub")]);
  });

  test("by the name that is its own, whatever link led there", async () => {
    symlinkSync("sub", at("link"));
    expect((await session(["cd link", "pwd -L"])).said()[1]).toBe(at("sub"));
  });

  test.each([
    ["became another program", "cd sub && exec true", "(Bash completed with no output)"],
    ["has a trap of its own", "trap 'echo bye' EXIT; cd sub", "bye"],
  ])("and where it was when a shell that moved %s, which the model is told", async (_, command, output) => {
    const { said } = await session([command, "pwd"]);
    expect(said()).toEqual([
      `${output}\n[The next command starts in ${root} again: where this one ended is not known]`,
      root,
    ]);
  });

  test("and one in the background starts there, and moves nothing", async () => {
    const {
      all,
      log,
      session: opened,
    } = await session([
      "cd sub",
      ["Bash", { command: "pwd > here.txt; cd deep", run_in_background: true }],
      "until [ -s here.txt ]; do sleep 0.02; done; cat here.txt",
    ]);
    expect(textOf(all("tool.finished")[2]?.content ?? [])).toBe(at("sub"));
    expect(log.flatMap((event) => (event.type === "tool.finished" ? [event.keptFolder] : []))).toEqual([
      at("sub"),
      undefined,
      undefined,
    ]);
    await opened.close("ended");
  });

  test("while other tools stay where the session is", async () => {
    writeFileSync(at("notes.txt"), "of the session\n");
    const { said } = await session(["cd sub", ["Read", { file_path: "notes.txt" }]]);
    expect(said()[1]).toContain("of the session");
  });

  test("also in a session that is opened again", async () => {
    const first = await session(["cd sub"]);
    const again = await session(["pwd", "cat notes.txt"], {
      log: memoryLog({ events: first.log }),
    });
    expect(again.said()).toEqual([at("sub"), "this is sub/notes.txt"]);
    expect(again.all("tool.started").map(({ facts }) => facts?.cwd)).toEqual([at("sub"), at("sub")]);
  });

  test("also when the conversation is shortened, and the model is told of it", async () => {
    const {
      say,
      session: opened,
      all,
    } = await session([], {
      script: {
        replies: [
          reply(toolUse("Bash", { command: "cd sub" })),
          reply("ok"),
          reply("These are notes."),
          reply("ok"),
        ],
      },
    });
    await opened.submit({ type: "compact" });
    await say("again");
    expect(all("context.compacted").map(({ restored }) => restored?.at(-1))).toEqual([
      `The next command starts in ${at("sub")}.`,
    ]);
    expect(opened.state.keptFolder).toBe(at("sub"));
  });

  test("and not in a conversation that begins anew", async () => {
    const { say, session: opened, all } = await session(["cd sub"]);
    await opened.submit({ type: "clear" });
    await say("again");
    expect(textOf(all("tool.finished").at(-1)?.content ?? [])).toBe(root);
  });
});

describe("a folder that is gone", () => {
  test.each([
    ["was removed", () => rmSync(at("sub"), { recursive: true })],
    [
      "has become a link to another folder",
      () => {
        renameSync(at("sub"), at("other"));
        symlinkSync("other", at("sub"));
      },
    ],
    [
      "has become a link that leads outside",
      () => {
        rmSync(at("sub"), { recursive: true });
        symlinkSync("/etc", at("sub"));
      },
    ],
  ])(
    "because it %s: what was meant for it does not run elsewhere, and the next starts in the session's",
    async (_, change) => {
      const first = await session(["cd sub"]);
      change();
      const again = await session(["rm -rf *", "pwd"], {
        log: memoryLog({ events: first.log }),
        bypass: "allowed",
        settings: { permissionMode: "bypassPermissions" },
      });
      expect(again.said()).toEqual([
        `Not run: ${at("sub")}, where the last command ended, is no folder of the workspace any more. The next command starts in ${root}.`,
        root,
      ]);
      expect(again.all("tool.finished")[0]).toMatchObject({ invalid: true, keptFolder: null });
    },
  );

  test.each([
    ["was allowed by itself", "ls"],
    ["a person allowed", "touch made"],
  ])(
    "between the decision and the run: what %s does not run in what stands there now",
    async (_, command) => {
      let started = 0;
      const { said } = await session(["cd sub", command, "pwd"], {}, ({ type }) => {
        if (type !== "tool.started" || ++started !== 2) return;
        renameSync(at("sub"), at("other"));
        symlinkSync("other", at("sub"));
      });
      expect(said().slice(1)).toEqual([expect.stringMatching(/^Not run: .*\/sub, /), root]);
    },
  );
});

describe("what is decided there", () => {
  test("goes by the rules of the session's folder: a deny is about the same files, however they are spelled", async () => {
    const commands = [
      "cat db.txt",
      "cat *",
      "cat ./d*",
      "head ../secrets/db.txt",
      "cat < db.txt",
      "grep -r . .",
    ];
    const first = await session(["cd secrets"]);
    const { all } = await session(commands, {
      log: memoryLog({ events: first.log }),
      rules: deny("Read(./secrets/**)"),
    });
    expect(all("tool.finished").map(({ denied }) => denied?.by)).toEqual(commands.map(() => "rule"));
  });

  test("and a rule about ./secrets is not about a folder of that name further down", async () => {
    const { said, all } = await session(["cd sub", "cat secrets/mine.txt", "cat ../secrets/db.txt"], {
      rules: deny("Read(./secrets/**)"),
    });
    expect(said()[1]).toBe("this is sub/secrets/mine.txt");
    expect(all("tool.finished")[2]?.denied?.by).toBe("rule");
  });

  test("finds the repository that git would find there", async () => {
    execFileSync("git", ["init", "-q"], { cwd: root });
    execFileSync("git", ["init", "-q"], { cwd: at("sub") });
    const { asks } = await session(["git status", "cd sub", "git status"]);
    expect(asks.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/another repository.*; it would run in .*\/sub$/),
    ]);
  });

  test("asks before what is protected, by the path that it is there", async () => {
    mkdirSync(at("sub/.git"));
    const { asks } = await session(["cd sub/.git", "touch config"], {
      settings: { permissionMode: "acceptEdits" },
    });
    expect(asks).toHaveLength(1);
  });

  test("is a question of its own: a yes or a no in another folder is not one here", async () => {
    const { asks } = await session(["touch a", "cd sub", "touch a"], {
      answer: ({ options }) => ({
        verdict: "deny",
        option: options.find(({ verdict }) => verdict === "deny")?.id ?? "",
      }),
    });
    expect(asks.map(({ reason }) => reason)).toEqual([
      expect.not.stringContaining("it would run in"),
      expect.stringMatching(/it would run in .*\/sub$/),
    ]);
    const fingerprints = asks.map(({ id }) => id.split(":").at(-1));
    expect(new Set(fingerprints).size).toBe(2);
  });

  test("is told to hooks with the folder that paths of the call are relative to", async () => {
    const heard: [string, string][] = [];
    await session(["cd sub", "pwd", ["Read", { file_path: "sub/notes.txt" }]], {
      hooks: {
        beforeTool: async ({ tool }, { cwd }) => {
          heard.push([tool, cwd]);
          return { context: [] };
        },
      },
    });
    expect(heard).toEqual([
      ["Bash", root],
      ["Bash", at("sub")],
      ["Read", root],
    ]);
  });

  test("can be tried again under other rules, from the log alone", async () => {
    const { log } = await session(["cd sub", "cat notes.txt"]);
    const replayed = await replayDecisions(log, { deny: ["Read(./sub/notes.txt)"] });
    expect(replayed.decisions.map(({ recorded, replayed: now }) => [recorded, now])).toEqual([
      ["allow", "allow"],
      ["allow", "deny"],
    ]);
  });
});
