// The analyser against real bash, in a world where every program is a stub that logs itself: no program may start that
// a verdict did not list.
import { availableParallelism } from "node:os";
import { afterAll, expect, test } from "vitest";
import { noRules } from "../../keel/src/policy/decide.ts";
import { explain } from "../../keel/src/policy/explain.ts";
import { loadsCode } from "../../keel/src/policy/hidden-command.ts";
import { analyseReading, read, wantsSecondReader } from "../../keel/src/shell/meaning/analyse.ts";
import { withInner } from "../../keel/src/shell/meaning/commands.ts";
import type { ShellStep } from "../../keel/src/shell/meaning/walk.ts";
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";
import { chanceOf, generateCommand, stubPrograms } from "../differential/generate.ts";
import { openStubRoot, type StubRoot } from "../differential/stub-root.ts";
import { budgets, countOf, seed } from "../support/budget.ts";
import { notRunHere } from "../support/not-run.ts";
import { note } from "../support/notes.ts";
import { verifies } from "../support/verifies.ts";

const place = { cwd: "/work", home: "/home/dev", roots: ["/work"] };
const grammar = openGrammar();
/** One more than there are processors: some commands wait, and some hang until they are ended. */
const worlds = availableParallelism() + 1;
const roots: StubRoot[] = [];
afterAll(() => Promise.all(roots.map((root) => root.close())));
const count = countOf("bash-differential");

test(
  "no program runs that a verdict did not list",
  async () => {
    verifies("G27");
    const opened = await Promise.all(Array.from({ length: worlds }, () => openStubRoot(stubPrograms)));
    for (const each of opened) if (each.ok) roots.push(each.root);
    const refused = opened.find((each) => !each.ok);
    if (refused) return notRunHere("bash-differential", refused.why);
    const found = { allowed: 0, read: 0, cut: 0, wrong: [] as string[] };
    let next = seed();
    const last = next + count;
    const work = async (root: StubRoot): Promise<void> => {
      while (next < last) {
        const at = next++;
        const command = generateCommand(chanceOf(at));
        const judged = await judge(command);
        if (judged.kind === "unclear") continue;
        const { programs, isCut } = await root.run(command);
        found[judged.kind] += 1;
        if (isCut) found.cut += 1;
        const missing = programs.filter((name) => !judged.listed.has(name));
        if (missing.length > 0)
          found.wrong.push(
            `${at}: ${judged.kind} ${JSON.stringify(command)} ran ${[...new Set(missing)].join(" ")}`,
          );
      }
    };
    await Promise.all(roots.map(work));
    note("counts", `of them ${found.allowed} allowed, ${found.read} read, ${found.cut} ended early`);
    expect(found.wrong.sort()).toEqual([]);
    // Of what was ended early the rest was not seen.
    expect(found.cut).toBeLessThan(count / 100);
    expect(found.allowed).toBeGreaterThan(count / 50);
    expect(found.read).toBeGreaterThan(count / 10);
  },
  // A busy machine takes a tenth of a second for each.
  budgets["bash-differential"].seconds * 6_000 + count * 100,
);

test("the world of stubs sees whatever starts, also late and out of sight, and outlives what hangs", async () => {
  verifies("G27");
  const opened = await openStubRoot(stubPrograms);
  if (!opened.ok) return notRunHere("bash-differential", opened.why);
  roots.push(opened.root);
  const ran = async (command: string): Promise<string[]> =>
    [...new Set((await opened.root.run(command)).programs)].sort();
  expect(await ran("ls | cat; echo $(git status)")).toEqual(["cat", "git", "ls"]);
  expect(await ran("(read -t 0.1 -u 9; rm) & ls")).toEqual(["ls", "rm"]);
  // Nothing tells of its end, since it has closed everything that it was given.
  expect(await ran("{ exec 7>&-; read -t 0.1 -u 9; rm; } & ls")).toEqual(["ls", "rm"]);
  expect(await ran("trap rm EXIT; exec 7>&- > /dev/null; sh x")).toEqual(["rm", "sh"]);
  expect(await ran("exec -a ls /usr/bin/curl")).toEqual(["curl"]);
  expect(await opened.root.run("while :; do touch p; done & exec 7>&-; read -u 9")).toMatchObject({
    isCut: true,
    programs: expect.arrayContaining(["touch"]),
  });
  for (const program of stubPrograms)
    expect(await opened.root.run(program)).toEqual({ isCut: false, programs: [program] });
  expect(await ran("nosuch; PATH=. ls; [ -f a ]")).toEqual([]);
  expect(await ran("echo 'ls")).toEqual([]);
});

type Judged =
  | { readonly kind: "unclear" }
  /** Approved, or read to the last sign with every program known: then the list must be whole. */
  | { readonly kind: "allowed" | "read"; readonly listed: ReadonlySet<string> };

async function judge(command: string): Promise<Judged> {
  const question = { tool: "Bash", input: { command }, ...place, trusted: true, mode: "default" as const };
  const reading = read(command);
  if (command === "" || !wantsSecondReader(reading)) return { kind: "unclear" };
  const tree = await grammar.parse(command);
  const { verdict, programs, wrapped } = explain({ ...question, rules: noRules, readOnlyAuto: true }, tree);
  const listed = new Set([...programs, ...wrapped].map((name) => name.slice(name.lastIndexOf("/") + 1)));
  if (verdict === "allow") return { kind: "allowed", listed };
  const analysis = analyseReading(reading, { ...place, isTrusted: true }, tree);
  if (analysis.kind === "unread") return { kind: "unclear" };
  const all = analysis.commands.flatMap(withInner);
  const isClear =
    // Where words are evaluated, or a meaning is open, the list is not claimed to be whole.
    analysis.doubts.every(({ kind }) => kind !== "meaning") &&
    analysis.steps.every(({ words, assignments, redirections }) =>
      [
        ...words,
        ...assignments.map(({ value }) => value),
        ...redirections.flatMap(({ target, body }) => (body ? [target, body] : [target])),
      ].every(({ isOpaque }) => !isOpaque),
    ) &&
    analysis.steps.every(({ assignments }) => assignments.every(({ name }) => !loadsCode(name))) &&
    all.every(({ hides, step }) => !hides && step.words[0]?.kind === "fixed" && !changesShell(step));
  return isClear ? { kind: "read", listed } : { kind: "unclear" };
}

/** What runs later, or changes how the rest is read. */
const changesShell = ({ words }: ShellStep): boolean => {
  const [program = "", ...rest] = words.map(({ text }) => text);
  if (/^(?:alias|trap|source|\.|shopt|set|enable|hash)$/.test(program)) return true;
  // A variable that is a number or another's name gives what it is given a second meaning.
  const declares = /^(?:declare|typeset|local|readonly|export)$/.test(program);
  return declares && rest.some((word) => /^[-+][a-zA-Z]*[in]/.test(word));
};
