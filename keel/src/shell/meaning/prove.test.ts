import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { noRules } from "../../policy/decide.ts";
import { type ExplainRequest, type Explanation, explain } from "../../policy/explain.ts";
import type { Grammar } from "../../ports/shell.ts";
import { openGrammar } from "../../workspace/processes/grammar.ts";

let grammar: Grammar;
beforeAll(() => {
  grammar = openGrammar();
});

/** What is decided by default, with no rule at all, in a trusted repository. */
async function verdictOf(command: string, more: Partial<ExplainRequest> = {}): Promise<Explanation> {
  const place = { cwd: "/srv/project", home: "/home/dev", roots: ["/srv/project"], trusted: true };
  const tree = await grammar.parse(command);
  return explain(
    {
      tool: "Bash",
      input: { command },
      ...place,
      mode: "default",
      rules: noRules,
      readOnlyAuto: true,
      ...more,
    },
    tree,
  );
}

const fixture = (name: string): string[] =>
  readFileSync(new URL(`../../../../test/fixtures/commands/${name}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "");

test("everyday commands that only read go without a question", async () => {
  verifies("G24");
  const asked: string[] = [];
  for (const command of fixture("only-read.txt")) {
    const { verdict, because } = await verdictOf(command);
    if (verdict !== "allow") asked.push(`${command}: ${because}`);
  }
  expect(asked).toEqual([]);
});

test("what is not proved to only read is asked about, program by program and option by option", async () => {
  verifies("G23");
  const allowed: string[] = [];
  for (const command of fixture("not-proved.txt"))
    if ((await verdictOf(command)).verdict !== "ask") allowed.push(command);
  expect(allowed).toEqual([]);
});

describe("over several lines, or with signs that do not show,", () => {
  test.each([
    ["a script of sed with a command in a block", "sed '/a/{p;e rm\n}' f"],
    ["a script of sed with a command behind a text", "sed 'a\\\nx\ne rm' f"],
    ["a here-document that shows a variable", "cat <<EOF\n$SECRET\nEOF"],
    ["a here-document that runs a command", "cat <<EOF\n$(rm x)\nEOF"],
    ["a here-document that runs one in backticks", "cat <<EOF\n`rm x`\nEOF"],
    ["a here-document with tabs", "cat <<-EOF\n\t$(rm x)\n\tEOF"],
    ["a command behind a here-document", "cat <<'EOF'\nx\nEOF\nrm x"],
    ["a here-document for a shell", "cat <<'EOF' | sh\nrm\nEOF"],
    ["a here-document that does not end", "cat <<EOF\nx"],
    ["a command behind a joined line", "ls \\\n-la; rm x"],
    ["a command behind a comment", "ls #x\nrm y"],
    ["a carriage return", "ls\rrm x"],
    ["a line end of another system", "ls\r\n"],
    ["a blank that is none", "ls\u00a0-la"],
    ["a letter without width", "ls -la\u200b"],
    ["a change of direction", "echo a\u202e"],
    ["a line separator", "echo ok\u2028rm -f x"],
    ["a letter of another alphabet", "\u0441at notes.txt"],
    ["an escape character", "echo \u001b[31m"],
    ["a letter before a backslash", "echo ā\\;rm"],
    ["a new kind of substitution", "echo ${ rm; }"],
    ["another new kind of substitution", "echo ${| rm; }"],
    ["an array", "a=(`rm`)"],
    ["a quoted default", 'echo "${x:-`rm`}"'],
    ["a list that does not end", "ls &&"],
    ["a quote that does not end", "ls 'a"],
    ["two semicolons", "ls;;"],
    ["a backslash at the end", "ls \\"],
    ["a NUL", "ls\0"],
    ["half of a pair", "ls \ud800"],
  ])("%s is asked about", async (_what, command) => {
    expect((await verdictOf(command)).verdict).toBe("ask");
  });
});

describe("a path in a command", () => {
  test.each([
    ["cat a.txt", {}, "allow"],
    ["cat /srv/project/a.txt", {}, "allow"],
    ["cat /srv/project-evil/a.txt", {}, "ask"],
    ["cat /srv/other/a.txt", {}, "ask"],
    ["cat /srv/other/a.txt", { roots: ["/srv/project", "/srv/other"] }, "allow"],
    ["cat ~/a.txt", {}, "ask"],
    ["cat ~/a.txt", { roots: ["/home/dev"] }, "allow"],
    ["cat ~root/a.txt", { roots: ["/"] }, "ask"],
    ['cat "$HOME/a.txt"', { roots: ["/home/dev"] }, "allow"],
    ["cd src && cat ../a.txt", {}, "allow"],
    ["cd src && cat ../../a.txt", {}, "ask"],
    ["cd src || cat ../a.txt", {}, "ask"],
    ["cd src; cat ../a.txt", {}, "ask"],
    ["(cd src && ls); cat ../a.txt", {}, "ask"],
    ["cat $PWD/a.txt", {}, "allow"],
    ["cd src && cat $PWD/../../a.txt", {}, "ask"],
    ["PWD=/etc; cat $PWD/passwd", {}, "ask"],
    ["ls *.ts", {}, "allow"],
    ["ls .*", {}, "ask"],
    ["cat .e*", {}, "ask"],
    ["echo /etc/*", {}, "ask"],
    ["cat */../../x", {}, "ask"],
    ["cat [.]./x", {}, "ask"],
  ] as const)("%s with %j is answered with %s", async (command, more, expected) => {
    expect((await verdictOf(command, more)).verdict).toBe(expected);
  });
});

test("git is asked about where a repository is not trusted, and elsewhere than in the workspace", async () => {
  expect((await verdictOf("git status")).verdict).toBe("allow");
  expect((await verdictOf("git status", { trusted: false })).verdict).toBe("ask");
  expect((await verdictOf("cd /tmp/clone && git log")).verdict).toBe("ask");
  expect((await verdictOf("ls", { trusted: false })).verdict).toBe("allow");
});

test("without a second reader nothing is approved", () => {
  const question = { tool: "Bash", input: { command: "ls" }, cwd: "/p", home: "/h", roots: ["/p"] };
  const { verdict, because, programs } = explain(
    { ...question, trusted: true, mode: "default", rules: noRules, readOnlyAuto: true },
    undefined,
  );
  expect({ verdict, because, programs }).toEqual({
    verdict: "ask",
    because: "no second reader has seen it",
    programs: ["ls"],
  });
});

test("a text of more than 10,000 characters is asked about, whatever it is made of, and still read", async () => {
  const { verdict, programs } = await verdictOf(`echo ${"a".repeat(10_000)}`);
  expect({ verdict, programs }).toEqual({ verdict: "ask", programs: ["echo"] });
});
