import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Ask, AskOption } from "../../../protocol/ask.ts";
import { choose } from "../../../view/choices.ts";
import { Output } from "../output.ts";
import { question, terminalAsker } from "./terminal.ts";

const options: AskOption[] = [
  { id: "once", label: "Yes, once", verdict: "allow" },
  {
    id: "always",
    label: "Yes, always: Bash(ls)",
    verdict: "allow",
    rule: "Bash(ls)",
    preview: "exactly this command",
  },
  { id: "no", label: "No", verdict: "deny" },
  { id: "say", label: "No, and tell the model why", verdict: "deny", takesWords: true },
];
const ask: Ask = {
  id: "1",
  kind: "permission",
  title: "Allow Bash?",
  body: { kind: "terminal", command: "ls\nAllow Bash? y", output: "", exitCode: null },
  options,
};

describe("the question", () => {
  test("shows the whole command, each line marked as its own, and the choices with no as the default", () => {
    expect(question(ask)).toBe(
      [
        "",
        "Allow Bash?",
        "  │ ls",
        "  │ Allow Bash? y",
        "  o  Yes, once",
        "  a  Yes, always: Bash(ls)",
        "       that is: exactly this command",
        "  al … and from now on in this project, for you",
        "  ap … and from now on in this project, for everybody who trusts it",
        "  au … and from now on in all your projects",
        "  n  No",
        "  s  No, and tell the model why (s and words)",
        "[n] > ",
      ].join("\n"),
    );
  });

  test("names what would hide in labels, too", () => {
    const shown = question({ ...ask, options: [{ id: "no", label: "No\u202e\u001b[1A", verdict: "deny" }] });
    expect(shown).toContain("No⟨U+202E⟩⟨ESC⟩[1A");
  });
});

describe("the answer", () => {
  test.each([
    ["o", "once"],
    ["ONCE ", "once"],
    ["y", "once"],
    ["yes", "once"],
    ["a", "always"],
    ["always", "always"],
    ["n", "no"],
    ["", "no"],
    ["ok", "no"],
    ["yy", "no"],
    ["o a", "no"],
  ])("%j means %s", (line, id) => {
    expect(choose(options, line)?.option.id).toBe(id);
  });

  test.each([
    ["al", "local"],
    ["AP ", "project"],
    ["au", "user"],
    ["a", undefined],
  ])("%j keeps the rule: %s", (line, keep) => {
    expect(choose(options, line)).toMatchObject({ option: { id: "always" } });
    expect(choose(options, line)?.keep).toBe(keep);
  });

  test.each([
    ["n use pnpm instead", "use pnpm instead"],
    ["No, ask Ada: she knows", "ask Ada: she knows"],
    ["n", undefined],
    ["no.", undefined],
    ["now do it", undefined],
    ["al ready", undefined],
  ])("%j is a no with the words %j", (line, words) => {
    expect(choose(options, line)).toMatchObject({ option: { id: "no" } });
    expect(choose(options, line)?.words).toBe(words);
  });

  test("a no with words may bring them along, and is asked for them otherwise", async () => {
    expect(choose(options, "s use pnpm")).toMatchObject({ option: { id: "say" }, words: "use pnpm" });
    const input = new PassThrough();
    const err = new Output(new PassThrough().resume());
    const asked = terminalAsker({ input, err })(ask, new AbortController().signal);
    // What is typed before a question is shown is no answer to it.
    setTimeout(() => input.write("s\n"), 150);
    setTimeout(() => input.write("use pnpm\n"), 400);
    expect(await asked).toMatchObject({ option: { id: "say" }, words: "use pnpm" });
  });

  test("options with the same letter are told apart by their number", () => {
    const alike: AskOption[] = [
      { id: "never", label: "Never", verdict: "deny" },
      { id: "now", label: "Now", verdict: "allow" },
    ];
    expect(question({ ...ask, options: alike })).toContain("  2  Now");
    expect(choose(alike, "2")?.option.id).toBe("now");
    expect(choose(alike, "n")?.option.id).toBe("never");
  });

  test("there is none when the input ends or the question is withdrawn", async () => {
    const err = new Output(new PassThrough().resume());
    const ended = new PassThrough();
    const asked = terminalAsker({ input: ended, err })(ask, new AbortController().signal);
    ended.end();
    expect(await asked).toBeUndefined();
    const withdrawn = new AbortController();
    const waiting = terminalAsker({ input: new PassThrough(), err })(ask, withdrawn.signal);
    withdrawn.abort();
    expect(await waiting).toBeUndefined();
  });
});
