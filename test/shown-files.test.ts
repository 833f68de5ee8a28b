// What is allowed without a question shows nothing that a rule denies, and by itself nothing from outside: over generated
// folders and commands, proved by really running what was allowed and looking at what comes out.
import { spawnSync } from "node:child_process";
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
import { canaries, makePlace, type Place } from "./places/folder.ts";
import { countOf, seed } from "./support/budget.ts";
import { realWorkspace } from "./support/real-workspace.ts";
import { verifies } from "./support/verifies.ts";

const grammar = openGrammar();
const folders = countOf("shown-files");
const commandsEach = 12;

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

async function allowedWays(
  place: Place,
  { command, cwd }: { command: string; cwd: string },
): Promise<string[]> {
  const workspace = {
    ...realWorkspace({ cwd: place.root }),
    cwd,
    commands: {
      grammar,
      home: `${place.base}/home`,
      isTrusted: true,
      place: nodeCommandPlace({ project: place.root, env: {} }),
    },
  };
  const claims = [{ action: "execute" as const, target: command }];
  const deny = place.deny.map(ruleOf);
  const looked = await lookAt(claims, workspace, { ...noRules, deny });
  const allowed = ways.filter(({ mode, allow }) => {
    const facts = { tool: "Bash", traits: carefulTraits, claims, mode, ...looked };
    return decide({ ...facts, rules: { ...noRules, allow, deny } }).verdict === "allow";
  });
  return allowed.map(({ way }) => way);
}

/** Everything that comes out of it. It reads, and has nothing to wait for. */
function outputOf({ base }: Place, { command, cwd }: { command: string; cwd: string }): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: `${base}/home`,
    LANG: "C.UTF-8",
    PWD: cwd,
    GIT_PAGER: "cat",
  };
  const { stdout, stderr } = spawnSync("bash", ["-c", command], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
    maxBuffer: 50_000_000,
  });
  return `${stdout}${stderr}`;
}

test("nothing denied or from outside is shown by what is allowed without a question", {
  timeout: 120_000 + folders * 1_000,
}, async () => {
  verifies("G23", "G29");
  const seen = { default: 0, broad: 0, bypass: 0, asked: 0, elsewhere: 0 };
  for (let at = 0; at < folders; at++) {
    const chance = chanceOf(seed() + at);
    const place = makePlace(chance);
    for (let made = 0; made < commandsEach; made++) {
      const { cwd, names } = standIn(place, chance);
      const command = commandIn({ ...place, names }, chance);
      const allowed = await allowedWays(place, { command, cwd });
      if (allowed.length === 0) seen.asked += 1;
      else {
        if (cwd !== place.root) seen.elsewhere += 1;
        const output = outputOf(place, { command, cwd });
        const leaked = {
          denied: output.includes(canaries.denied),
          outside: output.includes(canaries.outside) && allowed.includes("default"),
        };
        expect(
          leaked,
          `seed ${seed() + at}: ${command}\nin ${cwd}; allowed: ${allowed}; denied: ${place.deny}\n${output}`,
        ).toEqual({
          denied: false,
          outside: false,
        });
      }
      for (const way of allowed) if (way === "default" || way === "broad" || way === "bypass") seen[way] += 1;
    }
    rmSync(place.base, { recursive: true });
  }
  // It would prove nothing if nothing were allowed, or nothing asked about.
  const all = folders * commandsEach;
  expect(seen.default).toBeGreaterThan(all / 50);
  expect(seen.broad).toBeGreaterThan(all / 20);
  expect(seen.bypass).toBeGreaterThan(all / 10);
  expect(seen.asked).toBeGreaterThan(all / 20);
  expect(seen.elsewhere).toBeGreaterThan(all / 50);
});
