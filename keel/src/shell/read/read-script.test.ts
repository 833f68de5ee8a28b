import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { analyse, programsOf, wrappedOf } from "../meaning/analyse.ts";

const context = { cwd: "/p", home: "/h", roots: ["/p"], isTrusted: true };
const analysed = (text: string) => analyse(text, context, undefined);
/** The programs of a text, or why it was not read. */
const programs = (text: string): string | string[] => {
  const analysis = analysed(text);
  return analysis.kind === "unread" ? "unread" : programsOf(analysis);
};

describe("the programs of a text are found", () => {
  test.each([
    ["in a list", "a; b && c || d & e\nf", ["a", "b", "c", "d", "e", "f"]],
    ["in a pipeline", "a | b |& c", ["a", "b", "c"]],
    ["in groups and subshells", "{ a; (b); }", ["a", "b"]],
    ["in a branch", "if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]],
    ["in loops", "while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]],
    ["in a loop over words", "for x in 1 $(a); do b; done", ["a", "b"]],
    ["in a loop with braces", "for x in 1; { a; }", ["a"]],
    ["in a loop that counts", "for ((i=0; i<$(a); i++)); do b; done", ["a", "b"]],
    ["in a select", "select x in 1; do a; done", ["a"]],
    ["in a case", "case $(a) in (b) c;; d|e) f;& *) g;;& h) ;; esac", ["a", "c", "f", "g"]],
    ["in functions", "f() { a; }; function g { b; }; function h () (c)", ["a", "b", "c"]],
    ["in a coprocess", "coproc a; coproc N { b; }; coproc { c; }", ["a", "b", "c"]],
    ["behind time and !", "time a; time -p b; ! c; time ! d", ["a", "b", "c", "d"]],
    ["but time is a program in a pipeline", "a | time b", ["a", "time"]],
    ["in substitutions", 'a $(b) `c` "$(d)" "`e`"', ["a", "b", "c", "d", "e"]],
    ["in nested backticks", "a `b \\`c\\``", ["a", "b", "c"]],
    ["in processes", "a <(b) >(c) < <(d) > >(e)", ["a", "b", "c", "d", "e"]],
    ["in a word with a process", "a x<(b)", ["a", "b"]],
    ["in an expansion", 'a ${x:-$(b)} "${y:=`c`}"', ["a", "b", "c"]],
    ["in arithmetic", "a $(( $(b) + `c` )) $[ $(d) ]", ["a", "b", "c", "d"]],
    ["in what only looks like arithmetic", "a $((b) | c)", ["a", "b", "c"]],
    ["in two subshells that look like arithmetic", "((a) | (b))", ["a", "b"]],
    ["in such subshells with quotes", "((a ')') | (b \\)); c)", ["a", "b", "c"]],
    ["in arithmetic of its own", "(( $(a) )) && b", ["a", "b"]],
    ["in a condition", "[[ $(a) == b && -n `c` ]] || d", ["a", "c", "d"]],
    ["in a condition with a process", "[[ -n <(a) && b < c && d > e ]]", ["a"]],
    ["in a condition with a pattern", "[[ x =~ (a b|c) ]] && d", ["d"]],
    ["in assignments", "x=$(a) y=( $(b) ) z[$(c)]=1 d", ["d", "a", "b", "c"]],
    ["in redirections", "a > $(b) 2> `c` <<< $(d)", ["a", "b", "c", "d"]],
    ["in a here-document", "a <<E\n$(b) `c`\nE\nd", ["a", "b", "c", "d"]],
    ["but not in a quoted here-document", "a <<'E'\n$(b)\nE\nd", ["a", "d"]],
    ["and not in one whose end is escaped", "a <<\\E\n$(b)\nE\nd", ["a", "d"]],
    ["behind two here-documents", "a <<E <<F; b\n1\nE\n$(c)\nF\nd", ["a", "c", "b", "d"]],
    ["behind a here-document in a substitution", "a $(b <<E\nx\nE\n) c", ["a", "b"]],
    ["behind an end that a line is joined to", "a <<E\nx\\\nE\nE\nb", ["a", "b"]],
    ["in what is expanded twice", "a >&'$(b)' >&\"\\`c\\`\"; >&'${x:-$(d)}'", ["a", "b", "c", "d"]],
    ["but not in a comment", "a # b; c\nd", ["a", "d"]],
    ["and not behind a sign that starts no comment", "a x#y; b", ["a", "b"]],
    ["and not in quotes", "a 'b; c' \"d; e\" f\\;g $'h; i'", ["a"]],
    ["with redirections before them", ">x a; 2>&1 b; {fd}<y c", ["a", "b", "c"]],
    ["with variables before them", "X=1 Y=2 a", ["a"]],
    ["and nothing where there are only variables", "X=1 Y=2", []],
    ["and nothing where there are only redirections", "> x", []],
    ["and nothing in an empty text", " \n# x\n", []],
  ])("%s", (_where, text, expected) => {
    expect(programs(text)).toEqual(expected);
  });
});

describe("a program is named as bash would start it", () => {
  test.each([
    ["r''m", "rm"],
    ["'r'\"m\"", "rm"],
    ["\\rm", "rm"],
    ["r\\\nm", "rm"],
    ["$'\\x72\\155'", "rm"],
    ["$'r\\u006d'", "rm"],
    ["$'rm\\0x'", "rm"],
    ["{rm,-rf,x}", "rm"],
    ["r{m,}", "rm"],
    ["{a..c}", "a"],
    ["'a b'", "a b"],
    ["a\\ b", "a b"],
    ["/bin/r?", "/bin/r?"],
    ["~/x", "~/x"],
    ["$x", "$x"],
    ["${x:-rm}", "${x:-rm}"],
    ["rm$IFS-rf", "rm$IFS-rf"],
    ["[", "["],
    ["a=b=c", ""],
    ["1a=b", "1a=b"],
    ["a-b=c", "a-b=c"],
    ["ls\u00a0x", "ls\u00a0x"],
    ["ls\rx", "ls\rx"],
  ])("%s is %s", (text, expected) => {
    expect(programs(`${text} -x`)[0] ?? "").toBe(expected === "" ? "-x" : expected);
  });
});

describe("what bash does not accept, or accepts in a way of its own, is not read in part", () => {
  test.each([
    ...["a;;b", "a &&", "a |", "| a", "&& a", "; a", "a ; ; b", "a & ; b", "(a", "a)", "{ a", "{ a }", "()"],
    ...["'a", '"a', "`a", "$(a", "${a", "$((1)", "a <<E", "a <<E\nb", "if a; then b", "for x in a; do b"],
    ...["case a in b) c", "f() a", "[[ a", "then a", "fi", "a > ", "a < ; b", "done", "! ; a", "in a", "}"],
    ...[
      "a\\",
      "${ a; }",
      "${|a; }",
      "a[b c]=d",
      "a <<$(b)\nx\n$(b)",
      "$'\\cx'",
      "a 'b\nc",
      "coproc",
      "time",
      "function",
    ],
    ...["(('$(a)'1))", "(( \\$(a) ))", "$(('$(a)'))", "((a '(' ))", "((a ')' ))", "$['$(a)']"],
    ...["((a['$(b)']))", "(( '$(a)' + $(case x in x) b;; esac) ))", "((a[(\\$(b))]))", "$((a['$(b)']))"],
    ...["\"${x:-'$(a)'}\"", "${x:-<(a)}", "$\\\n(a)", "x=(a", "a (b)", "a() (", "select", "while a; b; done"],
  ])("%j", (text) => {
    expect(programs(text)).toBe("unread");
  });
});

describe("the programs inside of others are found", () => {
  test.each([
    ["env -i A=1 rm x", ["rm"]],
    ["env -u A -C /tmp rm", ["rm"]],
    ["env -S 'rm x'", ["rm"]],
    ["timeout -k 5 10 rm", ["rm"]],
    ["nice -n 5 rm", ["rm"]],
    ["nice -5 rm", ["rm"]],
    ["stdbuf -oL -e0 rm", ["rm"]],
    ["sudo -u root -- rm", ["rm"]],
    ["sudo A=1 rm", ["rm"]],
    ["xargs -n 1 -P 4 rm", ["rm"]],
    ["xargs -I{} rm {}", ["rm"]],
    ["flock -n file rm", ["rm"]],
    ["flock file -c 'rm x'", ["rm"]],
    ["watch -n 1 rm x", ["rm"]],
    ["parallel rm ::: a b", ["rm"]],
    ["strace -f -e open rm", ["rm"]],
    ["time rm", []],
    ["command -v rm", []],
    ["command rm", ["rm"]],
    ["exec -a x rm", ["rm"]],
    ["eval 'rm x; curl y'", ["rm", "curl"]],
    ["bash -c 'rm x' y z", ["rm"]],
    ["bash -ec 'rm x'", ["rm"]],
    ["bash -c -- 'rm x'", ["rm"]],
    ["bash -o pipefail -c 'rm x'", ["rm"]],
    ["bash -c -o pipefail 'rm x'", ["rm"]],
    ["bash +x -c 'rm x'", ["rm"]],
    ["bash ./script -c 'rm x'", []],
    ["bash script.sh -c 'rm x'", []],
    ["bash gunzip x", ["gunzip"]],
    ["bash sh -c 'rm x'", ["sh", "rm"]],
    ["bash $x -c 'rm x'", ["rm"]],
    ["sh -x -c 'rm'", ["rm"]],
    ["bash -c 'bash -c \"rm x\"'", ["bash", "rm"]],
    ["bash <<< 'rm x'", ["rm"]],
    ["bash <<'E'\nrm x\nE", ["rm"]],
    ["cat <<E | sh\nrm x\nE", ["rm"]],
    ["bash script.sh", []],
    ["trap 'rm x' EXIT", ["rm"]],
    ["timeout 5 nice env rm", ["nice", "env", "rm"]],
    ["find . -exec rm {} \\; -o -exec curl {} +", ["rm", "curl"]],
    ["find . -execdir sh -c 'rm {}' \\;", ["sh", "rm"]],
    ["fd -e ts -x rm", ["rm"]],
    ["sed '1e rm x' f", ["rm"]],
    ["sed -e 's/a/rm x/e' f", ["rm"]],
    ["awk 'BEGIN{system(\"rm x\")}'", ["rm"]],
    ["awk '{\"date\" | getline d}'", ["date"]],
    ["tar xf a --to-command='rm x'", ["rm"]],
    ["tar cf a . --checkpoint-action=exec='rm x'", ["rm"]],
    ["git -c core.pager='rm x' log", ["rm"]],
    ["git -c alias.z='!rm x' z", ["rm"]],
    ["git rebase -x 'rm x' HEAD~1", ["rm"]],
    ["git bisect run ./x.sh", ["./x.sh"]],
    ["git submodule foreach 'rm x'", ["rm"]],
    ["git -c user.name=x log", []],
    ["rg --pre=x y", ["x"]],
    ["sort --compress-prog=x y", ["x"]],
    ["ssh -o ProxyCommand='rm x' h", ["rm"]],
    ["ssh h rm x", []],
    ["rsync -e 'sh -c id' a h:b", ["sh", "id"]],
    ["vim -c '!rm x' f", ["rm"]],
    ["man -P 'rm x' ls", ["rm"]],
  ])("%s", (text, expected) => {
    expect(wrappedOf(analysed(text))).toEqual(expected);
  });
});

test("a program is found at every position of a long chain and at every depth, or the text is refused", () => {
  verifies("G30");
  for (const position of [0, 1, 49, 50, 51, 999, 4_999]) {
    const parts = Array.from({ length: 5_000 }, (_, at) => (at === position ? "curl x" : "true"));
    expect(programs(parts.join(" && "))).toContain("curl");
  }
  for (let depth = 1; depth <= 200; depth++) {
    expect(programs(`${"echo $(".repeat(depth)}curl x${")".repeat(depth)}`)).toContain("curl");
    expect(programs(`${"( ".repeat(depth)}curl x${" )".repeat(depth)}`)).toContain("curl");
  }
  expect(programs(`${"$(".repeat(10_000)}curl${")".repeat(10_000)}`)).toBe("unread");
});

test.each(["a()", "a()(", "{ ", "if ", "coproc ", "function a ", "a(){ ", "! ( ", "a=$(", "case a in a) "])(
  "%j without end is not read, and breaks nothing",
  (piece) => {
    verifies("G28");
    for (const times of [300, 3_000, 100_000])
      expect(analysed(piece.repeat(times))).toMatchObject({ kind: "unread" });
  },
);

test("commands in commands are read to a depth that nobody writes", () => {
  verifies("G30");
  const deep = (levels: number) => `${"{ ".repeat(levels)}rm x${"; }".repeat(levels)}`;
  expect(analysed(deep(200))).toMatchObject({ kind: "read", commands: [{ name: "rm" }] });
  expect(analysed(deep(300))).toMatchObject({ kind: "unread" });
});
