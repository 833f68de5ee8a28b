import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { wordsStage } from "../../../../test/support/words-stage.ts";
import { text } from "../../protocol/message.ts";
import { openScheduleBook } from "../../store/schedules/schedule-book.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import { maxFileCharacters } from "./attach-mentions.ts";
import { builtInCommands } from "./commands/registry.ts";

const answers = (events: readonly { type: string }[]) =>
  events.flatMap((event) =>
    event.type === "command.answered" && "text" in event ? [String(event.text)] : [],
  );
const notices = (events: readonly { type: string }[]) =>
  events.flatMap((event) => (event.type === "notice.raised" && "text" in event ? [String(event.text)] : []));

describe("a command from a file", () => {
  test("puts its text to the model, with arguments, output and files, behind what was typed", async () => {
    verifies("S4.66");
    const stage = await wordsStage({
      files: {
        "notes.txt": "NOTED\n",
        ".keel/commands/git/hello.md":
          "---\ndescription: Greets\nallowed-tools: Bash(printf:*)\n---\nGreet $1. Seen: !`printf in%s side`. Read @notes.txt.",
      },
      options: { settingSources: ["project"] },
    });
    await stage.say("/git:hello Bob");
    const sent = stage.sent();
    expect(sent).toContain("/git:hello Bob");
    expect(sent).toContain(
      '<keel-command name="git:hello">\nGreet Bob. Seen: inside. Read @notes.txt.\n</keel-command>',
    );
    expect(sent).toContain('<keel-file path="notes.txt" lines="1">\nNOTED\n</keel-file>');
    expect(stage.session.info.commands.find(({ name }) => name === "git:hello")).toMatchObject({
      kind: "prompt",
      source: "project",
      description: "Greets",
    });
  });

  test("runs nothing for a project that nobody trusts, and says so", async () => {
    verifies("G46");
    const stage = await wordsStage({
      files: { ".keel/commands/x.md": "---\nallowed-tools: Bash\n---\nOut: !`touch made; echo ran`" },
    });
    await stage.say("/x");
    expect(stage.sent()).toContain("Out: (not run: the project is not trusted)");
    expect(existsSync(path.join(stage.cwd, "made"))).toBe(false);
    expect(notices(stage.events)).toEqual([
      '/x did not run "touch made; echo ran": the project is not trusted.',
    ]);
  });

  test("runs what policy allows without a question, and nothing else", async () => {
    const stage = await wordsStage({
      files: {
        "a.txt": "A",
        ".keel/commands/x.md":
          "---\nallowed-tools: Bash(touch:*)\n---\n1 !`cat a.txt` 2 !`touch b.txt && echo made` 3 !`rm a.txt` 4 !`touch no.txt`",
      },
      options: { settingSources: ["project"], disallowedTools: ["Bash(touch no.txt)"] },
    });
    await stage.say("/x");
    expect(stage.sent()).toMatch(/1 A 2 made 3 \(not run: .*\) 4 \(not run: .*denies it\)/);
  });

  test("allows its tools for its own turn, and the model that it names answers there", async () => {
    verifies("S4.67");
    const write = (name: string) => toolUse("Write", { file_path: name, content: "x" });
    const stage = await wordsStage({
      home: {
        ".keel/commands/w.md": "---\nallowed-tools: Write\nmodel: claude-haiku-4-5\n---\nWrite it.",
      },
      script: { replies: [reply(write("one.txt")), reply("done"), reply(write("two.txt")), reply("done")] },
    });
    stage.session.onEvent((event) => {
      if (event.type === "ask.opened")
        void stage.session.submit({
          type: "answer",
          askId: event.ask.id,
          answer: { verdict: "deny", reason: "no" },
        });
    });
    await stage.say("/w");
    await stage.say("again");
    const finished = stage.events.flatMap((event) => (event.type === "tool.finished" ? [event.failed] : []));
    expect(finished).toEqual([false, true]);
    expect([0, 1, 2, 3].map((index) => stage.body(index)["model"])).toEqual([
      "claude-haiku-4-5",
      "claude-haiku-4-5",
      "claude-sonnet-4-5",
      "claude-sonnet-4-5",
    ]);
  });

  test("says whether it runs at once or waits for the turn, before anybody calls it", () => {
    verifies("S4.67");
    const immediate = new Map(builtInCommands().map((command) => [command.name, command.immediate]));
    expect([immediate.get("context"), immediate.get("model")]).toEqual([true, true]);
    // The one waits until nothing runs, the other is a turn of its own.
    expect([immediate.get("clear"), immediate.get("init")]).toEqual([false, false]);
  });

  test("is hidden, or not for people, where its header says so", async () => {
    verifies("S4.67");
    const stage = await wordsStage({
      home: {
        ".keel/commands/quiet.md": "---\nhidden: true\n---\nQuiet text.",
        ".keel/skills/inner/SKILL.md": "---\ndescription: d\nuser-invocable: false\n---\nInner text.",
        ".keel/skills/mine/SKILL.md": "---\ndescription: d\ndisable-model-invocation: true\n---\nMine.",
      },
    });
    const listed = stage.session.info.commands.map(({ name }) => name);
    expect(listed).not.toContain("quiet");
    expect(listed).not.toContain("inner");
    expect(listed).toContain("mine");
    expect(stage.session.info.skills).toContain("inner");
    expect(stage.session.info.skills).not.toContain("mine");
    await stage.say("/quiet");
    expect(stage.sent()).toContain("Quiet text.");
    await stage.say("/inner");
    expect(stage.sent()).not.toContain("Inner text.");
  });

  test("cannot take the place of a command that decides about the session", async () => {
    const stage = await wordsStage({
      files: { ".keel/commands/help.md": "Not help.", ".keel/commands/commit.md": "Our way to commit." },
      options: { settingSources: ["project"] },
    });
    await stage.say("/help");
    expect(stage.requests()).toBe(0);
    await stage.say("/commit");
    expect(stage.sent()).toContain("Our way to commit.");
  });

  test("is read when it is called: what was written since counts", async () => {
    verifies("S4.67");
    const stage = await wordsStage({ home: { ".keel/commands/x.md": "Old." } });
    writeFileSync(path.join(stage.userHome, ".keel/commands/x.md"), "New.");
    await stage.say("/x");
    expect(stage.sent()).toContain("New.");
  });
});

describe("words", () => {
  test("that call nothing pass as they are", async () => {
    verifies("S1.19");
    const stage = await wordsStage();
    for (const words of ["/etc/hosts is a file", "/nothing here", "what does / mean?", " /help"]) {
      await stage.say(words);
      expect(stage.sent()).toContain(`\n${words}`);
    }
    expect(stage.requests()).toBe(4);
  });

  test("of a program that says so mean nothing beside themselves", async () => {
    const stage = await wordsStage({ files: { "a.txt": "INSIDE" } });
    await stage.session.submit({ type: "input", content: [text("/help @a.txt")], words: "as-is" });
    await stage.session.idle();
    expect(stage.sent()).toContain("/help @a.txt");
    expect(stage.sent()).not.toContain("INSIDE");
  });

  test("sent twice under one id run their command once", async () => {
    const stage = await wordsStage({
      home: { ".keel/commands/x.md": "---\nallowed-tools: Bash\n---\n!`echo one >> count.txt`" },
    });
    const id = "00000000-0000-7000-8000-000000000001";
    const send = () => stage.session.submit({ type: "input", id, content: [text("/x")] });
    expect(await Promise.all([send(), send()])).toEqual([
      { type: "accepted", inputId: id, duplicate: false },
      { type: "accepted", inputId: id, duplicate: true },
    ]);
    await stage.session.idle();
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(path.join(stage.cwd, "count.txt"), "utf8")).toBe("one\n");
  });
});

describe("mentions", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );

  test("attach files with path and number of lines, parts of them, folders and images", async () => {
    verifies("S0.81", "S0.82");
    const stage = await wordsStage({
      files: { "src/a.ts": "one\ntwo\nthree\nfour\n", "src/b.ts": "b", "dot.png": png },
    });
    await stage.say("see @src/a.ts and @src/a.ts#L2-3 in @src with @dot.png");
    const sent = stage.sent();
    expect(sent).toContain('<keel-file path="src/a.ts" lines="4">\none\ntwo\nthree\nfour\n</keel-file>');
    expect(sent).toContain('<keel-file path="src/a.ts" lines="4" shown="2-3">\ntwo\nthree\n</keel-file>');
    expect(sent).toContain('<keel-folder path="src" files="2">\na.ts\nb.ts\n</keel-folder>');
    expect(JSON.stringify(stage.body()["messages"])).toContain(png.toString("base64"));
  });

  test("of agents ask for them", async () => {
    verifies("S1.20");
    const stage = await wordsStage();
    await stage.say("@explore where is the parser? me@explore");
    expect(stage.sent()).toContain('the agent "explore" does this');
    await stage.say("@nobody there?");
    expect(stage.sent()).not.toContain('"nobody"');
  });

  test("never reach what the model may not read without a question", async () => {
    verifies("G46");
    const stage = await wordsStage({
      files: { ".env": "SECRET-1", "ok.txt": "fine" },
      home: { ".ssh/id": "SECRET-2" },
      options: { disallowedTools: ["Read(.env)"] },
    });
    writeFileSync(path.join(stage.folder, "outside.txt"), "SECRET-3");
    symlinkSync(path.join(stage.folder, "outside.txt"), path.join(stage.cwd, "link.txt"));
    mkdirSync(path.join(stage.cwd, "sub"));
    await stage.say("@.env @~/.ssh/id @../outside.txt @link.txt @sub/../.env @ok.txt");
    expect(stage.sent()).not.toContain("SECRET");
    expect(stage.sent()).toContain("fine");
    expect(notices(stage.events)).toHaveLength(5);
  });

  test("of long and of odd files are cut or told", async () => {
    verifies("G45");
    const stage = await wordsStage({
      files: { "long.txt": `${"y".repeat(99)}\n`.repeat(5_000), "odd.bin": Buffer.from([0, 1, 2, 3]) },
    });
    await stage.say("@long.txt @odd.bin @missing.txt");
    expect(stage.sent()).toContain("(Cut here; the rest can be read with the Read tool.)");
    expect(stage.sent().length).toBeLessThan(maxFileCharacters + 10_000);
    expect(notices(stage.events)).toEqual(["@odd.bin was not attached: it is neither text nor an image."]);
  });
});

describe("built-in commands", () => {
  test("answer without a turn, each of them", async () => {
    verifies("S4.66", "S4.70", "S1.19");
    const stage = await wordsStage({ files: { "AGENTS.md": "# Rules\n" } });
    const local = stage.session.info.commands.filter(({ kind }) => kind !== "prompt");
    expect(local.map(({ name }) => name)).toEqual(
      "agents clear compact config context cost doctor export fork goal help ide mcp memory mode model permissions resume rewind schedules skills status team".split(
        " ",
      ),
    );
    for (const { name } of local) {
      expect(await stage.say(`/${name}`), name).toEqual({ type: "ran", command: name });
    }
    expect(answers(stage.events)).toHaveLength(local.length);
    expect(answers(stage.events).every((answer) => answer.length > 10)).toBe(true);
    expect(stage.requests()).toBe(0);
    const said = answers(stage.events).join("\n");
    expect(said).toContain("/init [what else it should say]: Writes an AGENTS.md");
    expect(said).toContain("AGENTS.md (project, 1 lines)");
    expect(said).toContain("commit (bundled): ");
  });

  test("change the model and the mode, and refuse what they may not", async () => {
    const stage = await wordsStage();
    await stage.say("/model claude-haiku-4-5");
    await stage.say("/mode plan");
    await stage.say("/mode bypassPermissions");
    await stage.say("/mode sideways");
    const [model, mode, bypass, none] = answers(stage.events);
    expect([model, mode]).toEqual(["From now on claude-haiku-4-5 is asked.", "The mode is plan."]);
    expect(bypass).toMatch(/bypassPermissions/);
    expect(none).toMatch(/There is no mode called sideways/);
    await stage.say("go");
    expect(stage.body()["model"]).toBe("claude-haiku-4-5");
  });

  test("start the conversation anew, and tell it again what it must know", async () => {
    const stage = await wordsStage({ files: { "AGENTS.md": "MARK" } });
    await stage.say("first words");
    await stage.say("/clear");
    await stage.say("second words");
    expect(stage.sent()).not.toContain("first words");
    expect(stage.sent()).toContain("second words");
    expect(stage.sent()).toContain("MARK");
  });
});

describe("work that goes on by itself", () => {
  test("is told at once: the team, what is due by the clock, and the goal with its tries", async () => {
    const stage = await wordsStage();
    const said = async (words: string): Promise<string> => {
      await stage.say(words);
      return answers(stage.events).at(-1) ?? "";
    };
    expect(await said("/team")).toContain("There is no team.");
    expect(await said("/schedules")).toContain("There are none.");
    expect(await said("/goal")).toContain("There is no goal.");
    await said("/goal true passes");
    expect(await said("/goal")).toBe("The goal: true passes\nIt was not tried yet.");
    await stage.say("Go.");
    expect(await said("/goal")).toBe("The goal: true passes\nIt holds since try 1.");
    expect(await stage.session.inquire("team")).toBeNull();
    expect(await stage.session.inquire("schedules")).toEqual([]);
  });

  test("a schedule of the home is told with its next start, whoever made it", async () => {
    verifies("S2.55");
    const stage = await wordsStage({ files: {} });
    const book = await openScheduleBook(path.join(stage.userHome, ".keel/schedules"), async () => "jsonl");
    const from = Date.now();
    await book.keep({
      id: "news",
      when: { kind: "every", ms: 3_600_000, from },
      prompt: "Say what is new\nin the issues",
      cwd: "/elsewhere",
      options: {},
      overlap: "skip",
      missed: "latest",
      lateMs: 0,
      jitterMs: 0,
      retries: 0,
      endsAfterMs: 1,
      from,
      createdAt: from,
    });
    await stage.say("/schedules");
    expect(answers(stage.events).at(-1)).toBe("news: every 1h, in 1 h: Say what is new in the issues");
    const [entry] = await stage.session.inquire("schedules");
    expect(entry?.next).toEqual([1, 2, 3].map((hours) => from + hours * 3_600_000));
  });
});
