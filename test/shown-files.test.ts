// What is allowed without a question shows nothing that a rule denies, and by itself nothing from outside: over generated
// folders and commands, proved by really running what was allowed and looking at what comes out.
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { decide, noRules, type Rules } from "../keel/src/policy/decide.ts";
import { lookAt } from "../keel/src/policy/look.ts";
import { type PermissionRule, parseRule } from "../keel/src/policy/rules.ts";
import { carefulTraits } from "../keel/src/ports/define-tool.ts";
import type { PermissionMode } from "../keel/src/protocol/settings.ts";
import { nodeCommandPlace } from "../keel/src/workspace/git/command-place.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { type Chance, chanceOf } from "./differential/generate.ts";
import { commandIn, programs } from "./places/commands.ts";
import { canaries, makePlace, makeRepositories, type Place } from "./places/folder.ts";
import { countOf, seed } from "./support/budget.ts";
import { note } from "./support/notes.ts";
import { realWorkspace } from "./support/real-workspace.ts";
import { verifies } from "./support/verifies.ts";

const grammar = openGrammar();
const folders = countOf("shown-files");
const commandsEach = 12;
/** Folders whose commands one process runs: starting processes was most of the time. */
const folderBatch = 25;

const ruleOf = (text: string): PermissionRule => {
  const rule = parseRule(text);
  if (!rule) throw new Error(`not a rule: ${text}`);
  return rule;
};
const broad = programs.map((program) => ruleOf(`Bash(${program}:*)`));

/** In each of these what is denied stays unseen; what lies outside only where nobody has allowed the program. */
const ways: readonly {
  readonly way: string;
  readonly mode: PermissionMode;
  readonly allow: Rules["allow"];
}[] = [
  { way: "default", mode: "default", allow: [] },
  { way: "broad", mode: "default", allow: broad },
  { way: "bypass", mode: "bypassPermissions", allow: [] },
];

/** Where an earlier command left the shell, and the names as they are written there. */
function standIn(place: Place, chance: Chance): { cwd: string; names: readonly string[] } {
  const name = chance.once(2)
    ? "."
    : chance.pick(["sub", "src", "sub/deep", "secrets", "hidden", "link", "zz"]);
  const cwd = path.join(place.root, name);
  try {
    // Only a folder by its own name is kept.
    if (realpathSync(`${cwd}/.`) !== cwd || cwd === place.root) throw new Error("not there");
  } catch {
    return { cwd: place.root, names: place.names };
  }
  return { cwd, names: place.names.map((each) => path.relative(cwd, path.join(place.root, each)) || ".") };
}

/** In which of these ways a command of this place is allowed. */
function waysIn({ root, base, deny: denied }: Place): (command: string, cwd: string) => Promise<string[]> {
  const workspace = {
    ...realWorkspace({ cwd: root }),
    commands: {
      grammar,
      home: `${base}/home`,
      isTrusted: true,
      place: nodeCommandPlace({ project: root, env: {} }),
    },
  };
  const deny = denied.map(ruleOf);
  return async (command, cwd) => {
    const claims = [{ action: "execute" as const, target: command }];
    const looked = await lookAt(claims, { ...workspace, cwd }, { ...noRules, deny });
    const facts = { tool: "Bash", traits: carefulTraits, claims, ...looked };
    return ways
      .filter(
        ({ mode, allow }) =>
          decide({ ...facts, mode, rules: { ...noRules, allow, deny } }).verdict === "allow",
      )
      .map(({ way }) => way);
  };
}

type Run = {
  readonly place: Place;
  readonly command: string;
  readonly cwd: string;
  readonly allowed: readonly string[];
};

/** Everything that comes out of each of them, by one shell that starts the others. They read, and wait for nothing. */
function outputsOf(runs: readonly Run[]): string[] {
  const mark = `--- ${randomUUID()} ---`;
  const script = `while IFS= read -r -d '' home && IFS= read -r -d '' root && IFS= read -r -d '' text; do
    cd "$root" && HOME=$home bash -c "$text" </dev/null 2>&1; printf '%s' '${mark}'; done`;
  const { stdout, error } = spawnSync("bash", ["-c", script], {
    env: { PATH: process.env["PATH"], LANG: "C.UTF-8", GIT_PAGER: "cat", HOME: "" },
    input: runs.map(({ place, command, cwd }) => `${place.base}/home\0${cwd}\0${command}\0`).join(""),
    timeout: 120_000,
    maxBuffer: 500_000_000,
  });
  if (error) throw error;
  const outputs = stdout.toString().split(mark);
  if (outputs.length !== runs.length + 1) throw new Error(`${outputs.length - 1} of ${runs.length} ran`);
  return outputs;
}

/** What came out although it was denied, or lies outside and nobody allowed its program. */
function leaksOf(runs: readonly Run[], first: number): string[] {
  const outputs = outputsOf(runs);
  return runs.flatMap(({ place, command, cwd, allowed }, at) => {
    const output = outputs[at] ?? "";
    const isLeak =
      output.includes(canaries.denied) || (output.includes(canaries.outside) && allowed.includes("default"));
    return isLeak
      ? [
          `batch of seed ${first}: ${command}\nin ${cwd}; allowed: ${allowed}; denied: ${place.deny}\n${output.slice(0, 2_000)}`,
        ]
      : [];
  });
}

test("nothing denied or from outside is shown by what is allowed without a question", {
  timeout: 120_000 + folders * 1_000,
}, async () => {
  verifies("G23", "G29");
  const seen = new Map<string, number>();
  const leaks: string[] = [];
  for (let from = 0; from < folders; from += folderBatch) {
    const seeds = Array.from(
      { length: Math.min(folderBatch, folders - from) },
      (_, at) => seed() + from + at,
    );
    const made = seeds.map((each) => {
      const chance = chanceOf(each);
      return { chance, place: makePlace(chance) };
    });
    makeRepositories(made.map(({ place }) => place));
    const runs: Run[] = [];
    for (const { place, chance } of made) {
      const allowedIn = waysIn(place);
      for (let at = 0; at < commandsEach; at++) {
        const { cwd, names } = standIn(place, chance);
        const command = commandIn({ ...place, names }, chance);
        const allowed = await allowedIn(command, cwd);
        if (allowed.length > 0) runs.push({ place, command, cwd, allowed });
        const elsewhere = allowed.length > 0 && cwd !== place.root ? ["elsewhere"] : [];
        for (const way of [...(allowed.length > 0 ? allowed : ["asked"]), ...elsewhere])
          seen.set(way, (seen.get(way) ?? 0) + 1);
      }
    }
    leaks.push(...leaksOf(runs, seed() + from));
    for (const { place } of made) rmSync(place.base, { recursive: true });
  }
  note(
    "counts",
    `${folders} folders: ${leaks.length} leaks, ${[...seen].map((each) => each.join(" ")).join(", ")}`,
  );
  expect(leaks.slice(0, 20)).toEqual([]);
  // It would prove nothing if nothing were allowed, or nothing asked about.
  const all = folders * commandsEach;
  expect(seen.get("default")).toBeGreaterThan(all / 50);
  expect(seen.get("broad")).toBeGreaterThan(all / 20);
  expect(seen.get("bypass")).toBeGreaterThan(all / 10);
  expect(seen.get("asked")).toBeGreaterThan(all / 20);
  expect(seen.get("elsewhere")).toBeGreaterThan(all / 50);
});
