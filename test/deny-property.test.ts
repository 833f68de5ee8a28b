// Deny is final: over random rules, sources, modes, hooks and answers, adding anything never turns a deny into a run.

import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { schemaOf } from "../keel/src/kernel/schema.ts";
import { decide, noRules, type PolicyFacts, type Rules } from "../keel/src/policy/decide.ts";
import { judgeCommand } from "../keel/src/policy/judge-command.ts";
import { type PermissionRule, parseRule } from "../keel/src/policy/rules.ts";
import { carefulTraits, defineTool } from "../keel/src/ports/define-tool.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import type { Tool } from "../keel/src/ports/tool.ts";
import type { PathFacts } from "../keel/src/ports/workspace.ts";
import { text, textOf } from "../keel/src/protocol/message.ts";
import { type PermissionMode, permissionModeSchema } from "../keel/src/protocol/settings.ts";
import type { Claim } from "../keel/src/protocol/tool.ts";
import { ruleSources } from "../keel/src/protocol/verdict-facts.ts";
import { analyse } from "../keel/src/shell/meaning/analyse.ts";
import { memoryWorkspace } from "../keel/src/testing/memory-workspace.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { scriptedModel } from "../keel/src/testing/scripted-model.ts";
import { openFamily, worker } from "./agents/family.ts";
import { chanceOf, generateCommand } from "./differential/generate.ts";
import { countOf, seed } from "./support/budget.ts";
import { openTestSession } from "./support/test-session.ts";
import { verifies } from "./support/verifies.ts";

const world = { cwd: "/p", home: "/h", roots: ["/p"], isTrusted: true };
const inside = (path: string): PathFacts => ({ path, exists: true, kind: "file", root: "/p", links: false });
const ruleOf = (words: string): PermissionRule => {
  const parsed = parseRule(words);
  if (!parsed) throw new Error(`not a rule: ${words}`);
  return parsed;
};

const ruleTexts = [
  ..."Bash Bash(*) Bash(rm:*) Bash(ls:*) Bash(cat:*) Bash(true:*) Bash(sort:*) Bash(touch:*) Bash(sh:*)".split(
    " ",
  ),
  "Bash(git *)",
  "Bash(* x)",
  "Bash(curl http://e)",
  "Bash(echo hi)",
  ..."Read Read(./**) Read(a.txt) Edit Edit(./**) Write(out) Write Tool mcp__a".split(" "),
];
const rules = fc.array(
  fc
    .tuple(fc.constantFrom(...ruleTexts), fc.constantFrom(...ruleSources))
    .map(([words, source]) => ({ ...ruleOf(words), source })),
  { maxLength: 4 },
);
const modes = fc.constantFrom(...permissionModeSchema.options);
const commands = fc.oneof(
  fc.nat().map((number) => generateCommand(chanceOf(number))),
  fc.constantFrom("rm x", "ls; rm x", "sh -c 'rm x'", "cat a.txt", "echo hi", "sudo rm x", "$(echo rm) x"),
);

function facts(claims: readonly Claim[], more: Partial<PolicyFacts>): PolicyFacts {
  const paths = new Map(claims.map(({ target }) => [target, inside(target)]));
  return {
    tool: "Tool",
    traits: carefulTraits,
    claims,
    mode: "default",
    rules: noRules,
    paths,
    world,
    ...more,
  };
}
const commandFacts = (command: string): PolicyFacts =>
  facts([{ action: "execute", target: command }], {
    tool: "Bash",
    commands: new Map([
      [
        command,
        judgeCommand({
          text: command,
          analysis: analyse(command, world, undefined),
          world,
          paths: new Map(),
        }),
      ],
    ]),
  });

const runs = countOf("deny-property");
/** Random set-ups are many, and the machine may be busy. */
const timeout = 60_000 + runs * 20;

test("whatever rules, sources and modes are added", { timeout }, () => {
  verifies("G29");
  const call = fc.oneof(
    commands.map(commandFacts),
    fc.constantFrom(
      facts([{ action: "write", target: "/p/a.txt" }], { tool: "Write" }),
      facts([{ action: "read", target: "/p/a.txt" }], {
        tool: "Read",
        traits: { ...carefulTraits, readOnly: true },
      }),
      facts([{ action: "use", target: "mcp__a__b" }], { tool: "mcp__a__b" }),
    ),
  );
  const order = { deny: 0, ask: 1, allow: 2 };
  const seen = { denied: 0 };
  fc.assert(
    fc.property(
      call,
      fc.tuple(rules, rules, rules, rules, rules),
      modes,
      (given, [deny, moreDeny, allow, ask, moreAsk], mode) => {
        const before = decide({ ...given, rules: { allow: [], ask: [], deny } });
        const after = decide({
          ...given,
          mode,
          rules: { allow, ask: [...ask, ...moreAsk], deny: [...deny, ...moreDeny] },
        });
        if (before.verdict === "deny") {
          seen.denied += 1;
          expect(after.verdict).toBe("deny");
        }
        // More denials and more questions never allow more.
        const fewer = decide({ ...given, mode, rules: { allow, ask, deny } });
        expect(order[after.verdict]).toBeLessThanOrEqual(order[fewer.verdict]);
        // A rule that asks is asked about in every mode.
        if (ask.some(({ text: words }) => words === given.tool)) expect(after.verdict).not.toBe("allow");
      },
    ),
    { numRuns: runs, seed: seed() },
  );
  expect(seen.denied).toBeGreaterThan(runs / 20);
});

/** A shell that notes what it would run. */
const noting = (ran: string[]): Tool =>
  defineTool({
    name: "Bash",
    description: "Notes a command.",
    input: schemaOf(z.object({ command: z.string() })),
    claims: async ({ command }) => [{ action: "execute", target: command }],
    async *run({ command }) {
      ran.push(command);
      return { content: [text("done")], display: { kind: "text", text: "done" } };
    },
  }) as Tool;

const hook = fc.record({
  verdict: fc.constantFrom("allow", "ask", "deny", undefined),
  changed: fc.option(commands, { nil: undefined }),
});
const answer = fc.record({
  verdict: fc.constantFrom("allow", "allow", "deny"),
  changed: fc.option(commands, { nil: undefined }),
  option: fc.constantFrom("always", "once", undefined),
  rules: fc.array(fc.constantFrom(...ruleTexts), { maxLength: 2 }),
  byHook: fc.boolean(),
});

test("whatever hooks, answers, learnt rules and changes of the mode come while a session runs", {
  timeout,
}, async () => {
  verifies("G29", "S4.46");
  const seen = { ran: 0, denied: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(commands, { minLength: 1, maxLength: 3 }),
      fc.record({ allow: rules, ask: rules, deny: rules }),
      fc.tuple(modes, modes),
      hook,
      answer,
      async (wanted, given: Rules, [mode, later], hooked, answered) => {
        const ran: string[] = [];
        const { session, say, all } = await openTestSession({
          tools: [noting(ran)],
          rules: given,
          bypass: "allowed",
          settings: { permissionMode: mode },
          hooks: {
            beforeTool: async () => ({
              context: [],
              ...(hooked.verdict ? { decision: { verdict: hooked.verdict, reason: "so" } } : {}),
              ...(hooked.changed === undefined ? {} : { input: { command: hooked.changed } }),
            }),
            permission: async () => (answered.byHook ? { verdict: "allow" } : undefined),
          },
          answer: () => ({
            verdict: answered.verdict,
            rules: answered.rules,
            ...(answered.option === undefined ? {} : { option: answered.option }),
            ...(answered.changed === undefined ? {} : { input: { command: answered.changed } }),
          }),
          script: {
            replies: [
              ...wanted.map((command, at) => reply(toolUse("Bash", { command }, `c${at}`))),
              reply("Done."),
              ...wanted.map((command, at) => reply(toolUse("Bash", { command }, `d${at}`))),
              reply("Done."),
            ],
          },
        });
        await say("go");
        await session.submit({ type: "set", patch: { permissionMode: later } });
        await say("again");
        seen.ran += ran.length;
        seen.denied += all("tool.finished").filter(({ denied }) => denied).length;
        // What ran is what no rule denies, by whatever way it came.
        for (const command of ran)
          expect(
            decide({ ...commandFacts(command), rules: { ...noRules, deny: given.deny } }).verdict,
          ).not.toBe("deny");
      },
    ),
    { numRuns: Math.ceil(runs / 20), seed: seed() },
  );
  expect(Math.min(seen.ran, seen.denied)).toBeGreaterThan(runs / 100);
});

test("whatever a judge says in the mode auto: it never lifts a deny, nor a question that is a person's", {
  timeout,
}, async () => {
  verifies("G29", "S4.47");
  const seen = { allowed: 0, denied: 0, insisted: 0 };
  const count = countOf("judged-rules");
  await fc.assert(
    fc.asyncProperty(
      fc.array(commands, { minLength: 1, maxLength: 3 }),
      fc.record({ allow: rules, ask: rules, deny: rules }),
      fc.constantFrom("allow", "allow", "allow", "ask", "deny"),
      async (wanted, given: Rules, verdict) => {
        const ran: string[] = [];
        const judged: unknown[] = [];
        const { say, all } = await openTestSession({
          tools: [noting(ran)],
          rules: given,
          settings: { permissionMode: "auto" },
          reviewer: {
            review: async ({ input }) => {
              judged.push((input as { command: string }).command);
              return { verdict, reason: "so" };
            },
          },
          answer: () => ({ verdict: "deny" }),
          script: {
            replies: [
              ...wanted.map((command, at) => reply(toolUse("Bash", { command }, `c${at}`))),
              reply("Done."),
            ],
          },
        });
        await say("go");
        const decided = (command: string) => decide({ ...commandFacts(command), mode: "auto", rules: given });
        // What a pattern stands for is asked of the folder, which is empty here: it may be less than the text says.
        const hasPattern = (command: string): boolean => /[*?[{]/.test(command);
        for (const command of [...ran, ...judged.map(String)])
          expect(decided(command).verdict, command).not.toBe("deny");
        for (const command of judged.map(String)) {
          const decision = decided(command);
          if (decision.verdict === "ask" && !hasPattern(command))
            expect(decision.insists ?? false, command).toBe(false);
        }
        // A person says no to everything here: what ran was let through by rules, mode or judge.
        if (verdict !== "allow")
          for (const command of ran.filter((each) => !hasPattern(each)))
            expect(decided(command).verdict, command).toBe("allow");
        seen.allowed += all("tool.started").filter(({ facts: told }) => told?.review).length;
        seen.denied += all("tool.finished").filter(({ denied }) => denied?.by === "rule").length;
        seen.insisted += all("ask.opened").length;
      },
    ),
    { numRuns: count, seed: seed() },
  );
  expect(Math.min(seen.allowed, seen.denied, seen.insisted)).toBeGreaterThan(count / 50);
});

const kinds = fc.record({
  permissionMode: fc.option(modes, { nil: undefined }),
  tools: fc.constantFrom<string[] | undefined>(undefined, ["Bash", "Agent"], ["Bash"], ["Read", "Agent"]),
  disallowedTools: fc.constantFrom<string[] | undefined>(undefined, undefined, undefined, ["Bash"]),
  background: fc.boolean(),
});

/** The main conversation starts an agent for each input; each agent starts one below it if it can, then runs commands. */
const delegating = (wanted: readonly string[], when: "waited for" | "in the background") =>
  scriptedModel((request) => {
    const delegate = (prompt: string) => delegation(prompt, when);
    const blocks = request.messages.flatMap(({ content }) => content);
    const results = blocks.filter(({ type }) => type === "tool_result").length;
    const prompt = textOf(request.messages[0]?.content ?? []);
    const next = (prompt.includes("deeper") ? wanted : ["deeper", ...wanted])[results];
    if (!isOfAgent(request)) {
      const last = request.messages.at(-1)?.content ?? [];
      const isAsked = ["go", "again"].includes(textOf(last));
      return isAsked ? reply(delegate("work")) : reply("Done.");
    }
    if (next === undefined) return reply("Done below.");
    return next === "deeper" ? reply(delegate("deeper")) : reply(toolUse("Bash", { command: next }));
  });
const isOfAgent = ({ system }: ModelRequest): boolean => system.join().includes(worker.prompt);
const delegation = (prompt: string, when: "waited for" | "in the background") =>
  toolUse("Agent", {
    description: "work",
    prompt,
    subagent_type: "worker",
    run_in_background: when === "in the background",
  });

test("whatever agents are started, with whatever modes and tools of their own, at any depth", {
  timeout,
}, async () => {
  verifies("G29", "S4.46");
  const seen = { ran: 0, denied: 0, below: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(commands, { minLength: 1, maxLength: 3 }),
      fc.record({ allow: rules, ask: rules, deny: rules }),
      fc.constantFrom(...ruleTexts),
      modes,
      kinds,
      fc.tuple(hook, answer),
      async (wanted, given: Rules, added, mode, kind, [hooked, answered]) => {
        const workspace = memoryWorkspace();
        const family = await openFamily({
          model: delegating(wanted, kind.background ? "in the background" : "waited for"),
          workspace,
          rules: given,
          settings: { permissionMode: mode },
          definitions: [{ ...worker, ...kind }],
          hooks: {
            beforeTool: async ({ tool }) => ({
              context: [],
              ...(hooked.verdict ? { decision: { verdict: hooked.verdict, reason: "so" } } : {}),
              ...(hooked.changed === undefined || tool !== "Bash"
                ? {}
                : { input: { command: hooked.changed } }),
            }),
            permission: async () => (answered.byHook ? { verdict: "allow" } : undefined),
          },
          answer: () => ({ verdict: answered.verdict, rules: answered.rules }),
        });
        await family.say("go");
        await family.settle();
        const first = commandsRun(workspace.effects);
        // A rule that the session learns while it runs holds for the agents that come.
        await family.session.submit({
          type: "set",
          patch: { permissions: [{ type: "rules", change: "add", list: "deny", rules: [added] }] },
        });
        await family.say("again");
        await family.settle();
        const later = commandsRun(workspace.effects).slice(first.length);

        seen.ran += first.length + later.length;
        seen.denied += family.below("tool.finished").filter(({ denied }) => denied).length;
        seen.below += family.below("turn.finished").filter(({ origin }) => origin?.depth === 2).length;
        expectUndenied(first, given.deny, mode);
        expectUndenied(later, [...given.deny, ruleOf(added)], mode);
        if (kind.disallowedTools || kind.tools?.includes("Bash") === false)
          expect([...first, ...later]).toEqual([]);
        await family.session.close("ended");
      },
    ),
    { numRuns: Math.ceil(runs / 40), seed: seed() },
  );
  expect(Math.min(seen.ran, seen.denied, seen.below)).toBeGreaterThan(runs / 200);
});

const commandsRun = (effects: readonly string[]): string[] =>
  effects.flatMap((effect) => (effect.startsWith("run ") ? [effect.slice("run ".length)] : []));

/** No rule of the session denies what ran, and neither does its mode: an agent's own never reaches beyond it. */
function expectUndenied(ran: readonly string[], deny: readonly PermissionRule[], mode: PermissionMode): void {
  for (const command of ran) {
    const facts = { ...commandFacts(command), rules: { ...noRules, deny } };
    expect(decide(facts).verdict, command).not.toBe("deny");
    if (mode === "plan") expect(decide({ ...facts, mode }).verdict, command).not.toBe("deny");
  }
}
