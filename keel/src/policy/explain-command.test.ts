import { expect, test } from "vitest";
import { sayCommand, sayWord } from "../view/say-command.ts";
import { openGrammar } from "../workspace/processes/grammar.ts";
import { explainInWords } from "./explain.ts";

const explained = async (command: string) =>
  (
    await explainInWords(openGrammar(), {
      tool: "Bash",
      input: { command },
      cwd: "/p",
      home: "/h",
      roots: ["/p"],
      trusted: true,
      mode: "default",
      rules: { allow: [], ask: [], deny: [] },
      readOnlyAuto: true,
    })
  ).commands;

test("a command is explained word by word, each simple command with what it can do", async () => {
  const [cat, grep, remove] = await explained("cat src/a.ts | grep x > /tmp/out.txt && rm -rf ../b $X");
  expect(cat?.words.map((word) => `${word.text}: ${sayWord(word)}`)).toEqual([
    "cat: the program",
    "src/a.ts: a file that it reads",
  ]);
  expect(cat && sayCommand(cat)).toEqual(["It only reads."]);
  expect(grep?.words.at(-1)).toEqual({ text: "> /tmp/out.txt", role: "writes", outside: true });
  expect(grep && sayCommand(grep)).toEqual([
    "It can write outside of the workspace.",
    "It gets what cat says.",
    "It is not known to only read: it writes to /tmp/out.txt.",
  ]);
  expect(remove?.words.map((word) => `${word.text}: ${sayWord(word)}`)).toEqual([
    "rm: the program",
    "-rf: an option",
    "../b: where it writes, outside of the workspace",
    "$X: only the run knows what this is",
  ]);
  expect(remove && sayCommand(remove)[0]).toBe("It can destroy what cannot be brought back.");
});

test("what a program starts in turn, and names that secrets are kept under, are told", async () => {
  const [wrapper, reader] = await explained("xargs rm < list; cat ~/.ssh/id_rsa");
  expect(wrapper?.runs).toEqual(["rm"]);
  expect(reader?.words[1]).toEqual({ text: "~/.ssh/id_rsa", role: "reads", outside: true, secret: true });
});

test("what cannot be read is not explained, and a long text only as far as somebody reads", async () => {
  expect(await explained("echo 'open")).toEqual([]);
  const many = await explained("true; ".repeat(60));
  expect(many).toHaveLength(20);
  expect((await explained(`echo ${"a ".repeat(100)}`))[0]?.words).toHaveLength(40);
});
