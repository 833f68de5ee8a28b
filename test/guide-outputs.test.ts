// What the guide shows of Keel's words is what the code says, given the facts that the example is about.
import { expect, test } from "vitest";
import { defaultLimits, limitsFor } from "../keel/src/core/limits.ts";
import { sayReport } from "../keel/src/hosts/cli/commands/backtest.ts";
import { catalog } from "../keel/src/models/catalog.ts";
import type { BacktestedCall } from "../keel/src/policy/backtest.ts";
import type { ModelRequest } from "../keel/src/ports/model.ts";
import { text } from "../keel/src/protocol/message.ts";
import { canonical, explainMiss } from "../keel/src/testing/cassette-replay.ts";
import { requestLaw } from "../keel/src/testing/request-law.ts";
import { withNewErrors } from "../keel/src/tools/change-file.ts";
import { sayContext } from "../keel/src/view/context-bar.ts";
import { errorsIn } from "../keel/src/workspace/diagnostics/finding.ts";
import { examplesOf } from "./docs/examples.ts";

const made: Readonly<Record<string, () => string | Promise<string>>> = {
  "docs/guide/context.md": context,
  "docs/guide/cost-and-cache.md": lawBreak,
  "docs/guide/diagnostics.md": newErrors,
  "docs/guide/policy.md": triedRules,
  "docs/guide/testing.md": notRecorded,
};

const shown = examplesOf("output");

test.each(shown)("$page shows what is said", async ({ page, text: words }) => {
  expect(`${await made[page]?.()}\n`).toBe(words);
});

test("each page has one such text, so that none hides behind another", () => {
  expect(shown.map(({ page }) => page)).toEqual(Object.keys(made));
});

function context(): string {
  const model = "claude-sonnet-5-5";
  const info = catalog().info(model);
  const tokens = { system: 480, tools: 3_900, mcp: 0, instructions: 0, skills: 0, messages: 79_830 };
  const totalTokens = Object.values(tokens).reduce((sum, count) => sum + count, 0);
  const { compactAtTokens } = limitsFor(defaultLimits, info);
  const { windowTokens } = info;
  return sayContext({
    model,
    windowTokens,
    compactAtTokens,
    totalTokens,
    tokens,
    freeTokens: windowTokens - totalTokens,
  });
}

function lawBreak(): string {
  const at = (time: string): ModelRequest => ({
    session: "0193…",
    model: "m",
    maxOutputTokens: 1_000,
    thinking: { kind: "off" },
    tools: ["Bash", "Edit", "Grep", "Read"].map((name) => ({ name, description: name, input: {} })),
    system: [`It is ${time}.`],
    messages: [{ role: "user", content: [text("go on")] }],
  });
  const law = requestLaw({ onBreak: () => undefined });
  for (const time of ["10:01", "10:01", "10:02"]) law.check(at(time));
  return law.breaks.map(({ sentence }) => sentence).join("\n");
}

async function newErrors(): Promise<string> {
  const range = { start: { line: 11, character: 4 } };
  const message = "Type 'number' is not assignable to type 'string'.";
  const errors = errorsIn([{ range, severity: 1, message, source: "ts", code: 2322 }]).map((one) => one.text);
  const watch = { newErrors: async () => ({ errors, omitted: 0, notes: [] }) };
  const { content } = await withNewErrors(
    { content: [], display: { kind: "text", text: "" } },
    { watch, path: "/srv/app/src/a.ts", after: "" },
    new AbortController().signal,
  );
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function notRecorded(): string {
  const asked = (words: string) =>
    canonical(
      {
        method: "POST",
        path: "/v1/messages",
        body: {
          tools: [{ name: "Read" }],
          system: [{ type: "text", text: "You are a test." }],
          messages: [{ role: "user", content: [{ type: "text", text: words }] }],
        },
      },
      {},
    );
  return explainMiss(asked("three"), [asked("one")]);
}

function triedRules(): string {
  const call = (about: string, said: Pick<BacktestedCall, "recorded" | "replayed" | "because" | "rule">) => ({
    session: "0198f2c1-aaaa",
    callId: "call_7",
    tool: "Bash",
    about,
    ...said,
  });
  const allow = { list: "allow", source: "flags" } as const;
  return sayReport({
    sessions: 31,
    agents: 4,
    calls: 402,
    same: 399,
    changed: [
      call("npm test", {
        recorded: "ask",
        replayed: "allow",
        because: "the rule Bash(npm *) (flags) allows it",
        rule: "Bash(npm *)",
      }),
      call("npm test && npm publish", {
        recorded: "ask",
        replayed: "deny",
        because: "the rule Bash(npm publish:*) (flags) denies it",
        rule: "Bash(npm publish:*)",
      }),
    ],
    unknown: [
      call("cat $FILES", {
        recorded: "ask",
        replayed: "unknown",
        because: "not all that was looked at is on record",
        rule: undefined,
      }),
    ],
    questions: { recorded: 57, replayed: 55 },
    rules: [
      { list: "deny", source: "flags", rule: "Bash(npm publish:*)", calls: 1, saves: 0 },
      { ...allow, rule: "Bash(npm *)", calls: 1, saves: 1, narrower: ["Bash(npm test:*)"] },
      { ...allow, rule: "Bash(make:*)", calls: 0, saves: 0 },
    ],
  }).join("\n");
}
