import { describe, expect, test } from "vitest";
import type { Claim } from "../protocol/tool.ts";
import type { RuleSource, VerdictFacts } from "../protocol/verdict-facts.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { type Backtest, type BacktestOptions, backtest } from "./backtest.ts";
import { noRules, type Rules } from "./decide.ts";
import { callOnRecord, type PastCall } from "./decide-again.ts";
import { parseRule } from "./rules.ts";

const cwd = "/srv/project";
const grammar = openGrammar();

const rulesOf = (texts: Partial<Record<"allow" | "ask" | "deny", readonly string[]>>): Rules => {
  const parsed = (list: readonly string[] = [], source: RuleSource = "flags") =>
    list.map((text) => parseRule(text, source) ?? expect.fail(`${text} is no rule`));
  return { ...noRules, allow: parsed(texts.allow), ask: parsed(texts.ask), deny: parsed(texts.deny) };
};

type Then = { readonly tool?: string; readonly claim: Claim; readonly verdict?: VerdictFacts["verdict"] };

const runs = (command: string, verdict: VerdictFacts["verdict"] = "ask"): Then => ({
  claim: { action: "execute", target: command },
  verdict,
});

/** Calls as a log has them, under rules that are tried. */
async function tried(
  calls: readonly Then[],
  rules: Rules,
  mode?: BacktestOptions["mode"],
): Promise<Backtest> {
  const past: PastCall[] = [];
  for (const [at, { tool = "Bash", claim, verdict = "ask" }] of calls.entries()) {
    const facts: VerdictFacts = {
      verdict,
      mode: "default",
      reason: "nothing allows it yet",
      claims: [claim],
      trust: "trusted",
      cwd,
      home: "/home/nobody",
    };
    const decision = { callId: `call-${at}`, tool, input: {}, by: "host", facts, seq: at, at } as const;
    past.push({ session: "one", decision, call: await callOnRecord(decision, grammar), rules: [rules] });
  }
  return backtest(past, { tried: [rules], mode });
}

const narrowerOf = ({ rules }: Backtest) => rules.map(({ narrower }) => narrower);

describe("rules that are tried on the past", () => {
  test("are counted by what they change, the questions that they save, and whether they decide anything", async () => {
    const calls = [runs("npm test"), runs("npm test -- a"), runs("npm publish"), runs("touch x", "allow")];
    const report = await tried(
      calls,
      rulesOf({ allow: ["Bash(npm test:*)", "Bash(make:*)"], deny: ["Bash(npm publish:*)"] }),
    );
    expect(report).toMatchObject({
      calls: 4,
      same: 0,
      unknown: [],
      questions: { recorded: 3, replayed: 1 },
      changed: [
        { about: "npm test", recorded: "ask", replayed: "allow", rule: "Bash(npm test:*)" },
        { about: "npm test -- a", recorded: "ask", replayed: "allow" },
        { about: "npm publish", recorded: "ask", replayed: "deny", rule: "Bash(npm publish:*)" },
        { about: "touch x", recorded: "allow", replayed: "ask" },
      ],
      rules: [
        { list: "deny", rule: "Bash(npm publish:*)", calls: 1, saves: 0 },
        { list: "allow", rule: "Bash(npm test:*)", calls: 2, saves: 2 },
        { list: "allow", rule: "Bash(make:*)", calls: 0, saves: 0 },
      ],
    });
  });

  test("that let one text run together are all counted", async () => {
    const { rules } = await tried(
      [runs("npm test && touch x > out.log")],
      rulesOf({ allow: ["Bash(npm test:*)", "Bash(touch:*)", "Edit(./out.log)"] }),
    );
    expect(rules.map(({ calls }) => calls)).toEqual([1, 1, 1]);
  });

  test("are tried in another mode", async () => {
    const { changed } = await tried([runs("touch x")], noRules, "dontAsk");
    expect(changed).toMatchObject([{ recorded: "ask", replayed: "deny" }]);
  });

  test("leave unknown what is not on record, and what would differ by rules of which nobody knows when they came", async () => {
    const [one, other] = [noRules, rulesOf({ allow: ["Bash(touch:*)"] })];
    const facts = { verdict: "ask", mode: "default", reason: "", claims: [], cwd, home: "/" } as const;
    const claims = [{ action: "execute", target: "touch x" }] as const;
    const decision = { callId: "c", tool: "Bash", input: {}, seq: 1, at: 1 };
    const known = { ...decision, facts: { ...facts, claims: [...claims] } };
    const past = [
      { session: "s", decision, call: await callOnRecord(decision, grammar), rules: [one] },
      { session: "s", decision: known, call: await callOnRecord(known, grammar), rules: [one, other] },
    ];
    expect(backtest(past, { tried: [one] })).toMatchObject({
      calls: 2,
      same: 0,
      changed: [],
      unknown: [{ recorded: "unknown" }, { recorded: "ask", replayed: "unknown" }],
    });
  });
});

describe("a rule that is wider than all that it let run", () => {
  const commands = [runs("npm test"), runs("npm test -- a && npm run lint"), runs("cargo build --release")];

  test("is met by the kinds of command that ran", async () => {
    expect(narrowerOf(await tried(commands, rulesOf({ allow: ["Bash"] })))).toEqual([
      ["Bash(cargo build:*)", "Bash(npm run lint:*)", "Bash(npm test:*)"],
    ]);
    expect(
      narrowerOf(await tried(commands, rulesOf({ allow: ["Bash(npm *)", "Bash(cargo build:*)"] }))),
    ).toEqual([["Bash(npm run lint:*)", "Bash(npm test:*)"], undefined]);
  });

  test("is left alone where nothing narrower would do for every call", async () => {
    const odd = [...commands, runs('npm test "$(date)"')];
    expect(narrowerOf(await tried(odd, rulesOf({ allow: ["Bash"] })))).toEqual([undefined]);
    expect(narrowerOf(await tried([], rulesOf({ allow: ["Bash"] })))).toEqual([undefined]);
  });

  test("is met by the folder, the hosts and the tools that were used", async () => {
    const writes = (path: string): Then => ({ tool: "Edit", claim: { action: "write", target: path } });
    const inside = [writes(`${cwd}/src/app/a.ts`), writes(`${cwd}/src/app/deep/b.ts`)];
    expect(narrowerOf(await tried(inside, rulesOf({ allow: ["Edit(./**)"] })))).toEqual([
      ["Edit(./src/app/**)"],
    ]);
    // At the top there is nothing narrower, and outside nothing that is the same for every project.
    for (const path of [`${cwd}/top.ts`, "/opt/other/a.ts"])
      expect(narrowerOf(await tried([...inside, writes(path)], rulesOf({ allow: ["Edit(//**)"] })))).toEqual([
        undefined,
      ]);
    const fetches = (url: string): Then => ({ tool: "WebFetch", claim: { action: "fetch", target: url } });
    expect(
      narrowerOf(
        await tried(
          [fetches("https://docs.example.org/a"), fetches("https://docs.example.org/b")],
          rulesOf({ allow: ["WebFetch(domain:*.example.org)"] }),
        ),
      ),
    ).toEqual([["WebFetch(domain:docs.example.org)"]]);
    const tool = "mcp__github__get_issue";
    expect(
      narrowerOf(
        await tried([{ tool, claim: { action: "use", target: tool } }], rulesOf({ allow: ["mcp__github"] })),
      ),
    ).toEqual([["mcp__github__get_issue"]]);
  });
});
