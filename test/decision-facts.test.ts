// A decision leaves what it rested on in the log: in real folders, with real links, and for other rules to be tried on.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Rules } from "../keel/src/policy/decide.ts";
import { type PermissionRule, parseRule } from "../keel/src/policy/rules.ts";
import type { Workspace } from "../keel/src/ports/workspace.ts";
import type { Answer } from "../keel/src/protocol/ask.ts";
import type { Durable } from "../keel/src/protocol/event/durable.ts";
import { isDurable } from "../keel/src/protocol/event/envelope.ts";
import type { RuleSource, VerdictFacts } from "../keel/src/protocol/verdict-facts.ts";
import { replayDecisions } from "../keel/src/testing/replay-decisions.ts";
import { byPosition, reply, toolUse } from "../keel/src/testing/reply.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { builtInTools } from "../keel/src/tools/catalog.ts";
import { nodeCommandPlace } from "../keel/src/workspace/git/command-place.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { realClock, realWorkspace } from "./support/real-workspace.ts";
import { openTestSession, type TestSession } from "./support/test-session.ts";

let cwd = "";
let outside = "";
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-facts-")));
  outside = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-facts-outside-")));
});
afterEach(() => {
  for (const folder of [cwd, outside]) rmSync(folder, { recursive: true, force: true });
});

const workspace = (): Workspace => ({
  ...realWorkspace({ cwd }),
  commands: {
    grammar: openGrammar(),
    home: "/home/nobody",
    isTrusted: true,
    place: nodeCommandPlace({ project: cwd, env: { PATH: `/usr/bin:/bin:${cwd}/bin` } }),
  },
});

const rule = (text: string, source: RuleSource): PermissionRule =>
  parseRule(text, source) ?? expect.fail(`${text} is no rule`);

type Calls = readonly (readonly [tool: string, input: Record<string, string>])[];

/** A session in which a model makes these calls, one to a reply. */
async function recorded(
  calls: Calls,
  { rules = {}, answer = "allow" }: { rules?: Partial<Rules>; answer?: Answer["verdict"] } = {},
): Promise<{ session: TestSession; model: ReturnType<typeof scriptedModel>; log: Durable[] }> {
  const replies = [...calls.map(([tool, input]) => reply(toolUse(tool, input))), reply("done")];
  const model = scriptedModel(byPosition(replies), { clock: realClock });
  const session = await openTestSession({
    model,
    clock: realClock,
    workspace: workspace(),
    tools: builtInTools(),
    rules: { allow: [], ask: [], deny: [], ...rules },
    answer: () => ({ verdict: answer }),
  });
  await session.say("go");
  return { session, model, log: session.events.filter(isDurable) };
}

const factsIn = (log: readonly Durable[]): (VerdictFacts | undefined)[] =>
  log.flatMap((event) => (event.type === "tool.started" ? [event.facts] : []));

describe("a call that runs", () => {
  test("says mode, rule with its source, reason, claims, trust and place", async () => {
    const { log } = await recorded([["Bash", { command: "touch made" }]], {
      rules: { allow: [rule("Bash(touch:*)", "user")] },
    });
    expect(factsIn(log)).toEqual([
      {
        verdict: "allow",
        mode: "default",
        reason: "the rule Bash(touch:*) (user) allows it",
        rule: { text: "Bash(touch:*)", list: "allow", source: "user" },
        claims: [{ action: "execute", target: "touch made" }],
        paths: [{ path: `${cwd}/made`, missing: true }],
        trust: "trusted",
        cwd,
        home: "/home/nobody",
        place: { demands: 0, searched: [`${cwd}/bin`], variables: expect.arrayContaining(["PATH"]) },
      },
    ]);
  });

  test("and only reads is told too, in few bytes", async () => {
    writeFileSync(path.join(cwd, "a.txt"), "hello");
    const { log } = await recorded([["Read", { file_path: path.join(cwd, "a.txt") }]]);
    const [facts] = factsIn(log);
    expect(facts).toMatchObject({
      verdict: "allow",
      reason: "it only reads inside the workspace",
      claims: [{ action: "read", target: `${cwd}/a.txt` }],
      readOnly: true,
    });
    expect(facts).not.toHaveProperty("rule");
    expect(JSON.stringify(facts).length).toBeLessThan(400);
  });

  test("names the links on its way, and that it lay outside", async () => {
    writeFileSync(path.join(outside, "secret"), "s");
    symlinkSync(path.join(outside, "secret"), path.join(cwd, "innocent"));
    const { log } = await recorded([["Read", { file_path: path.join(cwd, "innocent") }]]);
    const asked = log.flatMap((event) => (event.type === "ask.opened" ? [event.ask.facts] : []));
    const seen = {
      verdict: "ask",
      claims: [{ action: "read", target: `${outside}/secret`, outside: true }],
      paths: [
        {
          path: `${cwd}/innocent`,
          leadsTo: `${outside}/secret`,
          links: [`${cwd}/innocent`],
          outside: true,
        },
      ],
    };
    // The question has them, and the call that ran after the answer.
    expect(asked).toMatchObject([seen]);
    expect(factsIn(log)).toMatchObject([seen]);
  });
});

test("a call that is denied says by which rule, and the model is told nothing of what it rested on", async () => {
  const { log, model } = await recorded([["Bash", { command: "touch made" }]], {
    rules: { deny: [rule("Bash(touch:*)", "managed")] },
  });
  const finished = log.find((event) => event.type === "tool.finished");
  expect(finished).toMatchObject({
    denied: { by: "rule" },
    facts: { verdict: "deny", rule: { text: "Bash(touch:*)", list: "deny", source: "managed" } },
  });
  const sent = JSON.stringify(model.requests);
  for (const word of ["moreClaims", '"facts"', '"trust"', "/home/nobody", '"list"'])
    expect(sent).not.toContain(word);
});

test("where a hook spoke, what it said stands beside what rules and mode say", async () => {
  const session = await openTestSession({
    model: scriptedModel(
      byPosition([
        reply(toolUse("Write", { file_path: path.join(cwd, "new"), content: "x" })),
        reply("done"),
      ]),
      { clock: realClock },
    ),
    clock: realClock,
    workspace: workspace(),
    tools: builtInTools(),
    hooks: {
      beforeTool: async () => ({ decision: { verdict: "allow", reason: "the team wants it" }, context: [] }),
    },
  });
  await session.say("go");
  expect(session.all("tool.started")).toMatchObject([
    { by: "hook", facts: { verdict: "ask", hook: { verdict: "allow", reason: "the team wants it" } } },
  ]);
});

test("a command with thousands of paths and a long text leaves less than 4 KB", async () => {
  mkdirSync(path.join(cwd, "d"));
  const names = Array.from({ length: 3_000 }, (_, at) => `d/file-${at}-${"é\u0001".repeat(10)}`);
  const command = `cat ${names.map((name) => `'${name}'`).join(" ")}`;
  const { log } = await recorded([["Bash", { command }]], { answer: "deny" });
  const opened = log.find((event) => event.type === "ask.opened");
  const facts = opened?.type === "ask.opened" ? opened.ask.facts : undefined;
  expect(facts).toMatchObject({ verdict: "ask", claims: [{ action: "execute", cut: true }] });
  expect(facts?.morePaths).toBeGreaterThan(0);
  expect(Buffer.byteLength(JSON.stringify(facts))).toBeLessThan(4_096);
});

describe("decisions on record, taken again under other rules", () => {
  const calls: Calls = [
    ["Bash", { command: "touch made" }],
    ["Bash", { command: "cat a.txt" }],
    ["Read", { file_path: "a.txt" }],
    ["Read", { file_path: "innocent" }],
    ["Bash", { command: `echo ${"x ".repeat(1_000)} && touch long` }],
    ["Bash", { command: "rm -rf d" }],
    // A folder of PATH is the workspace's, and has a program of this name.
    ["Bash", { command: "wc a.txt" }],
    ["Bash", { command: "git status" }],
    ["Bash", { command: "git -C planted status" }],
    ["Bash", { command: "cat *.txt" }],
  ];

  async function session(): Promise<Durable[]> {
    writeFileSync(path.join(cwd, "a.txt"), "hello");
    mkdirSync(path.join(cwd, "d"));
    mkdirSync(path.join(cwd, "bin"));
    writeFileSync(path.join(cwd, "bin/wc"), "#!/bin/sh");
    for (const repository of [path.join(cwd, ".git"), path.join(cwd, "planted")]) {
      mkdirSync(path.join(repository, "objects"), { recursive: true });
      mkdirSync(path.join(repository, "refs"));
      writeFileSync(path.join(repository, "HEAD"), "ref: refs/heads/main\n");
    }
    writeFileSync(path.join(outside, "secret"), "s");
    symlinkSync(path.join(outside, "secret"), path.join(cwd, "innocent"));
    const whole: Calls = calls.map(([tool, input]) => [
      tool,
      input["file_path"] === undefined ? input : { file_path: path.join(cwd, input["file_path"]) },
    ]);
    const { log } = await recorded(whole, {
      rules: {
        allow: [rule("Bash(touch:*)", "user"), rule("Bash(echo:*)", "user")],
        deny: [rule("Bash(rm:*)", "project")],
      },
    });
    // What the world is by now says nothing: only what is on record does.
    rmSync(cwd, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
    return log;
  }

  const same = { allow: ["Bash(touch:*)", "Bash(echo:*)"], deny: ["Bash(rm:*)"] };

  test("are the same under the same rules", async () => {
    const { decisions, changed, unknown } = await replayDecisions(await session(), same);
    expect(unknown).toEqual([]);
    expect(changed).toEqual([]);
    expect(decisions.map(({ replayed }) => replayed)).toEqual([
      "allow",
      "allow",
      "allow",
      "ask",
      "allow",
      "deny",
      "ask",
      "allow",
      "ask",
      "allow",
    ]);
  });

  test("differ where the rules do, by where a path led then", async () => {
    const { changed } = await replayDecisions(await session(), {
      ...same,
      allow: ["Bash(echo:*)"],
      deny: ["Bash(rm:*)", `Read(/${outside}/secret)`, "Read(./a.txt)"],
    });
    expect(changed.map(({ recorded: then, replayed }) => `${then} → ${replayed}`)).toEqual([
      "allow → ask",
      "allow → deny",
      "allow → deny",
      "ask → deny",
      "allow → ask",
      "ask → deny",
      "allow → deny",
    ]);
  });

  test("can be tried in another mode", async () => {
    const { changed } = await replayDecisions(await session(), { ...same, mode: "dontAsk" });
    expect(changed).toMatchObject([
      { tool: "Read", recorded: "ask", replayed: "deny" },
      { tool: "Bash", recorded: "ask", replayed: "deny", because: expect.stringContaining("bin/wc") },
      { tool: "Bash", recorded: "ask", replayed: "deny", because: expect.stringContaining("planted/HEAD") },
    ]);
  });

  test("of an older log, or with facts that were cut, are unknown and never guessed", async () => {
    const log = await session();
    const older = log.map((event) => {
      if (event.type === "tool.started") return { ...event, facts: undefined };
      if (event.type === "ask.opened") return { ...event, ask: { ...event.ask, facts: undefined } };
      return event;
    });
    const { unknown } = await replayDecisions(older, same);
    expect(unknown).toHaveLength(9);
    const cut = log.map((event) =>
      event.type === "tool.started" && event.facts
        ? { ...event, facts: { ...event.facts, morePaths: 1 } }
        : event,
    );
    expect((await replayDecisions(cut, same)).unknown).toHaveLength(9);
  });

  test("of several patterns are decided by what each of them stood for", async () => {
    for (const name of ["a.txt", "b.md", "b.txt"]) writeFileSync(path.join(cwd, name), "hello");
    const { log } = await recorded([["Bash", { command: "cat *.txt; ls b* > out.log" }]]);
    const [{ expanded = [], expandedEach = [] } = {}] = factsIn(log);
    // In whatever order the folder names them.
    expect(expandedEach.map((each) => each.map((at) => path.basename(expanded[at] ?? "")).sort())).toEqual([
      ["a.txt", "b.txt"],
      ["b.md", "b.txt"],
    ]);
    const same = await replayDecisions(log, {});
    expect(same).toMatchObject({ unknown: [], changed: [] });
    expect((await replayDecisions(log, { deny: ["Read(a.txt)"] })).changed).toMatchObject([
      { recorded: "ask", replayed: "deny" },
    ]);
    expect((await replayDecisions(log, { allow: ["Edit(./out.log)", "Bash(ls:*)"] })).changed).toMatchObject([
      { recorded: "ask", replayed: "allow" },
    ]);
    // Without a word about which is which nobody can tell them apart.
    const without = (facts: VerdictFacts | undefined) => facts && { ...facts, expandedEach: undefined };
    const older = log.map((event) => {
      if (event.type === "tool.started") return { ...event, facts: without(event.facts) };
      if (event.type === "ask.opened")
        return { ...event, ask: { ...event.ask, facts: without(event.ask.facts) } };
      return event;
    });
    const { unknown, decisions } = await replayDecisions(older, {});
    expect(unknown).toEqual(decisions);
  });

  test("refuse a rule that is none", async () => {
    await expect(replayDecisions([], { deny: ["Bash(("] })).rejects.toMatchObject({ code: "usage" });
  });
});
