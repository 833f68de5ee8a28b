// Where a rule comes from is told with every decision; which list it stands in decides.
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { wordsStage } from "../../../../test/support/words-stage.ts";
import { decide, noRules } from "../../policy/decide.ts";
import { type PermissionRule, parseRule } from "../../policy/rules.ts";
import { carefulTraits } from "../../ports/define-tool.ts";
import { ruleSources } from "../../protocol/verdict-facts.ts";
import { reply, toolUse } from "../../testing/reply.ts";

const settings = (permissions: object): string => JSON.stringify({ permissions });
const denying = (name: string) => settings({ deny: [`Bash(touch ${name})`] });

describe("a rule", () => {
  test("is told with the source that it has: files, flags, the command line, a command, the session", async () => {
    verifies("S4.45");
    const files = ["managed", "user", "project", "local", "flags", "command-line"];
    const touch = (name: string, id = name) => toolUse("Bash", { command: `touch ${name}` }, id);
    const stage = await wordsStage({
      home: {
        "managed.json": denying("managed"),
        ".keel/settings.json": denying("user"),
        ".keel/commands/made.md": "---\nallowed-tools: Bash(touch command)\n---\nTouch it.",
      },
      files: { ".keel/settings.json": denying("project"), ".keel/settings.local.json": denying("local") },
      options: {
        settingSources: ["user", "project", "local"],
        settings: { permissions: { deny: ["Bash(touch flags)"] } },
        disallowedTools: ["Bash(touch command-line)"],
        asks: "answered",
      },
      managed: "managed.json",
      script: {
        replies: [
          reply(...[...files, "command"].map((name) => touch(name))),
          reply("Done."),
          reply(touch("session", "asked")),
          reply(touch("session")),
          reply("Done."),
        ],
      },
    });
    stage.session.onEvent((event) => {
      if (event.type === "ask.opened")
        void stage.session.submit({
          type: "answer",
          askId: event.ask.id,
          answer: { verdict: "allow", option: event.ask.options.find(({ rule }) => rule)?.id },
        });
    });
    await stage.say("/made");
    await stage.say("and now for the session");
    const denied = stage.events.flatMap((event) =>
      event.type === "tool.finished" && event.denied ? [[event.callId, event.facts?.rule?.source]] : [],
    );
    expect(denied).toEqual(files.map((source) => [source, source]));
    const allowed = stage.events.flatMap((event) =>
      event.type === "tool.started" ? [[event.callId, event.facts?.rule?.source]] : [],
    );
    expect(allowed).toEqual([
      ["command", "command"],
      ["asked", undefined],
      ["session", "session"],
    ]);
  });

  test("that denies beats one that asks, and that one any that allows, whichever sources they have", () => {
    verifies("S4.45");
    const from = (source: (typeof ruleSources)[number]): PermissionRule => {
      const rule = parseRule("Make", source);
      if (!rule) throw new Error("no rule");
      return rule;
    };
    const verdict = (rules: Partial<typeof noRules>) =>
      decide({
        tool: "Make",
        traits: carefulTraits,
        claims: [{ action: "use", target: "Make" }],
        mode: "default",
        rules: { ...noRules, ...rules },
        paths: new Map(),
        commands: new Map(),
      });
    for (const strong of ruleSources)
      for (const weak of ruleSources) {
        const allow = [from(weak)];
        expect(verdict({ allow }).verdict).toBe("allow");
        expect(verdict({ allow, ask: [from(strong)] })).toMatchObject({
          verdict: "ask",
          because: expect.stringContaining(`(${strong})`),
        });
        expect(verdict({ allow, ask: [from(weak)], deny: [from(strong)] })).toMatchObject({
          verdict: "deny",
          because: expect.stringContaining(`(${strong})`),
        });
      }
  });
});
