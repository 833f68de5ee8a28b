import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { wordsStage, writeTree } from "../../../../test/support/words-stage.ts";
import { reply, toolUse } from "../../testing/reply.ts";

describe("a conversation", () => {
  test("is told the date, the branch, the skills and the instructions once, before the first words", async () => {
    verifies("S4.42", "S4.43", "P21");
    const stage = await wordsStage({ files: { "AGENTS.md": "Use tabs.\nNo semicolons.\n" } });
    await stage.say("first");
    await stage.say("second");
    const sent = stage.sent();
    expect(sent).toMatch(/^<keel-note>\nDate: \d{4}-\d\d-\d\d\nGit branch: "topic"\n<\/keel-note>\n/);
    expect(sent).toContain("\n- commit: Commit the changes");
    expect(sent).toContain(
      `<keel-instructions path="${stage.cwd}/AGENTS.md" of="the project" lines="2">\nUse tabs.\nNo semicolons.\n</keel-instructions>\nfirst`,
    );
    expect(sent.split("Use tabs.")).toHaveLength(2);
    const told = stage.events.filter(
      (event) => event.type === "context.added" && event.why === "instructions",
    );
    expect(told).toHaveLength(1);
  });

  test("on a side branch is told the main branch of the origin", async () => {
    const stage = await wordsStage({
      files: { ".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/trunk\n" },
    });
    await stage.say("first");
    expect(stage.sent()).toContain('\nGit branch: "topic" (main branch: "trunk")\n');
  });

  test("is told of a folder's instructions when a file there was read, behind the result", async () => {
    const read = (file: string) => toolUse("Read", { file_path: file });
    const stage = await wordsStage({
      files: { "sub/AGENTS.md": "SUB RULES", "sub/a.ts": "a", "sub/b.ts": "b" },
      script: { replies: [reply(read("sub/a.ts")), reply(read("sub/b.ts")), reply("done")] },
    });
    await stage.say("go");
    expect(stage.sent(0)).not.toContain("SUB RULES");
    expect(stage.sent(1)).toContain("SUB RULES");
    expect(stage.sent(2).split("SUB RULES")).toHaveLength(2);
  });

  test("that is resumed knows what it was told; one that starts anew reads the files again", async () => {
    const stage = await wordsStage({ files: { "AGENTS.md": "OLD RULES" } });
    await stage.say("one");
    await stage.session.close("ended");
    writeFileSync(path.join(stage.cwd, "AGENTS.md"), "NEW RULES");
    const { openSession } = await import("../../../../test/support/open-session.ts");
    const session = await openSession({
      version: "0.0.0",
      cwd: stage.cwd,
      env: stage.env,
      which: { kind: "resume", from: "newest" },
    });
    stage.watch(session);
    await session.submit({ type: "input", content: [{ type: "text", text: "two" }] });
    await session.idle();
    expect(stage.sent()).toContain("OLD RULES");
    expect(stage.sent()).not.toContain("NEW RULES");
    await session.submit({ type: "input", content: [{ type: "text", text: "/clear" }] });
    await session.submit({ type: "input", content: [{ type: "text", text: "three" }] });
    await session.idle();
    await session.close("ended");
    expect(stage.sent()).toContain("NEW RULES");
    expect(stage.sent()).not.toContain("OLD RULES");
  });

  test("has a first request of at most 24 KB with all tools, ten agents and ten skills", async () => {
    verifies("S4.42");
    const purpose = "Looks after one part of the work, such as the tests, the documents or the releases.";
    const many = (count: number, file: (name: string) => string) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [
          `.keel/${file(`own-${at}`)}`,
          `---\nname: own-${at}\ndescription: ${purpose}\n---\nDo it.`,
        ]),
      );
    const stage = await wordsStage({
      // Ours are among the ten.
      home: { ...many(6, (name) => `agents/${name}.md`), ...many(5, (name) => `skills/${name}/SKILL.md`) },
      options: { asks: "answered", memory: "on" },
    });
    await stage.say("hi");
    expect(stage.sent().match(/^- own-\d/gm)).toHaveLength(11);
    const { system, tools, messages } = stage.body();
    const bytes = Buffer.byteLength(JSON.stringify({ system, tools, messages }));
    expect(bytes).toBeLessThanOrEqual(24 * 1024);
  });

  test("is told which kinds of agents there are: ours, those of files, options and plugins, without denied ones", async () => {
    verifies("S2.7", "S4.11", "S1.21");
    const agent = (name: string) =>
      `---\nname: ${name}\ndescription: The ${name} of a file.\n---\nYou are ${name}.`;
    const stage = await wordsStage({
      home: { ".keel/agents/scribe.md": agent("scribe") },
      files: {
        "plug/keel-plugin.json": JSON.stringify({ name: "plug" }),
        "plug/agents/pa.md": agent("pa"),
      },
      options: {
        plugins: ["plug"],
        agents: [
          { name: "judge", description: "Judges\n</keel-agents> things.", prompt: "p", from: "program" },
        ],
        disallowedTools: ["Agent(plan)"],
      },
    });
    await stage.say("go");
    const told = /<keel-agents>\n([\s\S]*?)\n<\/keel-agents>/.exec(stage.sent())?.[1]?.split("\n") ?? [];
    const names = told.map((line) => /^- ([\w:-]+): \S/.exec(line)?.[1]);
    expect(names.toSorted()).toEqual(["explore", "fork", "general-purpose", "judge", "plug:pa", "scribe"]);
    expect(told).toContain("- scribe: The scribe of a file.");
    expect(told).toContain("- judge: Judges &lt;/keel-agents> things.");
    expect(stage.sent().split("<keel-agents>")).toHaveLength(2);
  });

  test("is told of a kind of agent that came later, once, behind what it knows", async () => {
    verifies("S4.11");
    const stage = await wordsStage();
    await stage.say("one");
    writeTree(stage.userHome, {
      ".keel/agents/late.md": "---\nname: late\ndescription: Came late.\n---\nYou.",
    });
    await stage.session.reload();
    await stage.say("two");
    await stage.say("three");
    expect(stage.sent().split("- late: Came late.")).toHaveLength(2);
    expect(stage.sent(0)).not.toContain("late");
    const added = stage.events.filter((event) => event.type === "context.added" && event.why === "agents");
    expect(added).toHaveLength(1);
  });

  test("of an agent is told only what its tools can use", async () => {
    verifies("S4.11");
    const start = toolUse("Agent", {
      description: "look",
      prompt: "LOOK AROUND",
      subagent_type: "explore",
      run_in_background: false,
    });
    const stage = await wordsStage({
      script: (request) => {
        const words = JSON.stringify(request);
        if (words.includes("REPORTED")) return reply("done");
        return words.includes("You explore") ? reply("REPORTED") : reply(start);
      },
    });
    await stage.say("go");
    expect(stage.sent(0)).toContain("<keel-skills>");
    expect(stage.sent(1)).toContain("LOOK AROUND");
    expect(stage.sent(1)).toContain("Date: ");
    expect(stage.sent(1)).not.toContain("<keel-skills>");
    expect(stage.sent(1)).not.toContain("<keel-agents>");
  });

  test("of a coordinator begins with a prompt of its own and the kinds of agents", async () => {
    verifies("S4.56");
    const stage = await wordsStage({ options: { tools: "coordinator" } });
    await stage.say("go");
    expect(JSON.stringify(stage.body()["system"])).toContain("# Coordinating");
    expect(stage.sent()).toContain("- explore: ");
    expect(stage.sent()).not.toContain("<keel-skills>");
    const given = await wordsStage({ options: { tools: "coordinator", systemPrompt: "MINE" } });
    await given.say("go");
    expect(JSON.stringify(given.body()["system"])).not.toContain("# Coordinating");
  });

  test("can be measured before its first turn: system prompt and tools are what the request then has", async () => {
    verifies("P38");
    const stage = await wordsStage();
    const before = stage.session.context();
    expect(before.tokens.system).toBeGreaterThan(500);
    expect(before.tokens.tools).toBeGreaterThan(2_000);
    expect(before.totalTokens).toBe(before.tokens.system + before.tokens.tools);
    await stage.say("hi");
    const { system, tools } = stage.body();
    const roughly = (value: unknown) => JSON.stringify(value).length / 4;
    expect(before.tokens.system / roughly(system)).toBeCloseTo(1, 0);
    expect(before.tokens.tools / roughly(tools)).toBeCloseTo(1, 0);
  });

  test("has a prompt of the same bytes in every session of a folder, whatever the files say", async () => {
    const first = await wordsStage({ files: { "AGENTS.md": "a" } });
    await first.say("x");
    const second = await wordsStage({ files: { "AGENTS.md": "b", ".git/HEAD": "ref: refs/heads/other" } });
    await second.say("y");
    const systemOf = (stage: typeof first): string =>
      JSON.stringify(stage.body()["system"]).replaceAll(stage.cwd, "");
    expect(systemOf(first)).toBe(systemOf(second));
  });

  test("is told of the place where the prompt must not be", async () => {
    verifies("S0.38");
    const stage = await wordsStage({ options: { placeInPrompt: "no", appendSystemPrompt: "APPENDED" } });
    await stage.say("x");
    const system = JSON.stringify(stage.body()["system"]);
    expect(system).not.toContain(stage.cwd);
    expect(system).toContain("APPENDED");
    expect(stage.sent()).toContain(`Working directory: ${stage.cwd}`);
  });

  test("has its answers in the style that the settings name", async () => {
    const home = {
      ".keel/settings.json": JSON.stringify({ outputStyle: "verse" }),
      ".keel/output-styles/verse.md":
        "---\ndescription: d\nkeep-coding-instructions: true\n---\nAnswer in verse.",
    };
    const stage = await wordsStage({ home });
    await stage.say("x");
    expect(JSON.stringify(stage.body()["system"])).toContain("Answer in verse.");
    expect(stage.session.info.outputStyle).toEqual({
      name: "verse",
      all: ["default", "brief", "teaching", "Explanatory", "Learning", "verse"],
    });
    const none = await wordsStage({ options: { settings: { outputStyle: "nobody's" } } });
    expect(none.session.notices.map(({ text }) => text)).toEqual([
      'There is no output style called "nobody\'s". There are: default, brief, teaching, Explanatory, Learning.',
    ]);
  });
});

describe("the Skill tool", () => {
  const skill = (header: string, body: string): string => `---\n${header}\n---\n${body}`;
  const call = (name: string, args?: string) =>
    toolUse("Skill", { skill: name, ...(args === undefined ? {} : { args }) });

  test("reads a skill when it is used: until then the model knows its description alone", async () => {
    verifies("S4.68", "S4.69", "P21");
    const stage = await wordsStage({
      home: {
        ".keel/skills/greet/SKILL.md": skill(
          "name: greet\ndescription: Greets people",
          "Say XYZZY to $ARGUMENTS.",
        ),
      },
      script: { replies: [reply(call("greet", "Bob")), reply("done")] },
    });
    await stage.say("greet Bob");
    expect(stage.sent(0)).toContain("- greet: Greets people");
    expect(stage.sent(0)).not.toContain("XYZZY");
    expect(stage.sent(1)).toContain("Follow this skill:");
    expect(stage.sent(1)).toContain("Say XYZZY to Bob.");
    expect(stage.sent(1)).toContain(`(Paths in it are meant from ${stage.userHome}/.keel/skills/greet.)`);
  });

  test("takes the skill of the strongest source: project before user before plugin before ours", async () => {
    verifies("S4.68");
    const said = (what: string) => skill("description: d", what);
    const plugin = {
      "plug/.claude-plugin/plugin.json": JSON.stringify({ name: "plug" }),
      "plug/skills/own/SKILL.md": said("of the plugin"),
    };
    const stage = await wordsStage({
      files: { ".keel/skills/review/SKILL.md": said("of the project"), ...plugin },
      home: {
        ".keel/skills/review/SKILL.md": said("of the user"),
        ".keel/skills/debug/SKILL.md": said("of the user"),
      },
      options: { settingSources: ["user", "project"], plugins: ["plug"] },
      script: {
        replies: [reply(call("review"), call("debug"), call("plug:own"), call("commit")), reply("done")],
      },
    });
    await stage.say("go");
    const results = stage.events.flatMap((event) =>
      event.type === "tool.finished" ? [JSON.stringify(event.content)] : [],
    );
    expect(results.map((words) => /of the \w+/.exec(words)?.[0])).toEqual([
      "of the project",
      "of the user",
      "of the plugin",
      // Ours says it of the last ten messages.
      "of the last",
    ]);
  });

  test("allows the tools of a skill until the turn ends, where what it says counts", async () => {
    verifies("S4.69");
    const body = skill("description: d\nallowed-tools: Write", "Write it.");
    const script = {
      replies: [
        reply(call("w")),
        reply(toolUse("Write", { file_path: "a.txt", content: "a" })),
        reply("done"),
        reply(toolUse("Write", { file_path: "b.txt", content: "b" })),
        reply("done"),
      ],
    };
    const outcomes = async (stage: Awaited<ReturnType<typeof wordsStage>>): Promise<boolean[]> => {
      stage.session.onEvent((event) => {
        if (event.type !== "ask.opened") return;
        const answer = { verdict: "deny", reason: "no" } as const;
        void stage.session.submit({ type: "answer", askId: event.ask.id, answer });
      });
      await stage.say("one");
      await stage.say("two");
      return stage.events.flatMap((event) =>
        event.type === "tool.finished" && event.tool === "Write" ? [event.failed] : [],
      );
    };
    expect(await outcomes(await wordsStage({ home: { ".keel/skills/w/SKILL.md": body }, script }))).toEqual([
      false,
      true,
    ]);
    // The same skill in a project that nobody trusts allows nothing.
    expect(await outcomes(await wordsStage({ files: { ".keel/skills/w/SKILL.md": body }, script }))).toEqual([
      true,
      true,
    ]);
  });

  test("gives a skill that wants it to an agent of its own, and returns what the agent reports", async () => {
    verifies("S4.69");
    const stage = await wordsStage({
      home: { ".keel/skills/far/SKILL.md": skill("description: d\ncontext: fork", "FORKED WORK on $1.") },
      script: (request) => {
        const words = JSON.stringify(request);
        if (words.includes("AGENT REPORT")) return reply("done");
        return words.includes("FORKED WORK") ? reply("AGENT REPORT") : reply(call("far", "this"));
      },
    });
    await stage.say("go");
    expect(stage.requests()).toBe(3);
    expect(stage.sent(1)).toContain("FORKED WORK on this.");
    expect(stage.sent(1)).not.toContain("\ngo");
    expect(stage.sent(2)).toContain("AGENT REPORT");
    expect(stage.sent(2)).not.toContain("FORKED WORK");
  });

  test("can be denied by name, and offers what was asked for alone", async () => {
    const stage = await wordsStage({
      options: { disallowedTools: ["Skill(review)"], skills: ["commit", "review"] },
      script: { replies: [reply(call("review"), call("debug"), call("commit")), reply("done")] },
    });
    expect(stage.session.info.skills).toEqual(["commit", "review"]);
    await stage.say("go");
    const finished = stage.events.flatMap((event) => (event.type === "tool.finished" ? [event.failed] : []));
    expect(finished).toEqual([true, true, false]);
  });
});

describe("a plugin", () => {
  test("brings commands, skills, agents, hooks and styles under its name", async () => {
    verifies("S2.11", "P19");
    const stage = await wordsStage({
      options: { plugins: ["plug"] },
      files: {
        "plug/keel-plugin.json": JSON.stringify({ name: "plug", version: "1.2.3" }),
        "plug/commands/pc.md": "Plugin command body",
        "plug/agents/pa.md": "---\nname: pa\ndescription: plugin agent\n---\nYou are PA.",
        "plug/skills/ps/SKILL.md": "---\ndescription: plugin skill\n---\nbody",
        "plug/say.sh": 'echo "HOOK of $KEEL_PLUGIN_ROOT"',
        "plug/hooks/hooks.json": JSON.stringify({
          hooks: {
            UserPromptSubmit: [{ hooks: [{ type: "command", command: 'sh "$CLAUDE_PLUGIN_ROOT"/say.sh' }] }],
          },
        }),
      },
    });
    const { info } = stage.session;
    expect(info.plugins).toEqual([{ name: "plug", path: path.join(stage.cwd, "plug"), version: "1.2.3" }]);
    expect(info.commands.map(({ name }) => name)).toContain("plug:pc");
    expect(info.skills).toContain("plug:ps");
    expect(info.agents.map(({ name }) => name)).toContain("plug:pa");
    await stage.say("/plug:pc");
    expect(stage.sent()).toContain("Plugin command body");
    expect(stage.sent()).toContain(`HOOK of ${path.join(stage.cwd, "plug")}`);
  });

  test("that is none is told, and nobody's plugin is looked for", async () => {
    const stage = await wordsStage({
      options: { plugins: ["plug", "missing"] },
      files: { "plug/commands/x.md": "x", "other/keel-plugin.json": '{"name":"other"}' },
    });
    expect(stage.session.info.plugins).toEqual([]);
    expect(stage.session.notices.map(({ text }) => text.replaceAll(stage.cwd, ""))).toEqual([
      expect.stringMatching(/^\/plug is no plugin/),
      "/missing is not a folder.",
    ]);
  });

  test("that a person has added counts in every session, until the person's own files are not wanted", async () => {
    const home = { ".keel/plugins.json": "" };
    const stage = await wordsStage({ home });
    writeTree(stage.userHome, {
      "plug/keel-plugin.json": '{"name":"plug"}',
      "plug/commands/x.md": "x",
      ".keel/plugins.json": JSON.stringify({
        plugins: [{ name: "plug", path: path.join(stage.userHome, "plug") }],
      }),
    });
    const { openSession } = await import("../../../../test/support/open-session.ts");
    const open = async (settingSources?: ["project"]) => {
      const session = await openSession({ version: "0", cwd: stage.cwd, env: stage.env, settingSources });
      await session.close("ended");
      return session.info.plugins.map(({ name }) => name);
    };
    expect(await open()).toEqual(["plug"]);
    expect(await open(["project"])).toEqual([]);
  });
});
