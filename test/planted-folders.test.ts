// No program that a folder can replace or configure counts as a reader, and git is what git says it is: folders with
// planted repositories, links and settings of thirty tools are made at random, and every command that would be allowed
// without a question is really run in them. Not one program of the folder may start.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decide, noRules } from "../keel/src/policy/decide.ts";
import { lookAt } from "../keel/src/policy/look.ts";
import { carefulTraits } from "../keel/src/ports/define-tool.ts";
import { nodeCommandPlace } from "../keel/src/workspace/git/command-place.ts";
import { commandEnvironment } from "../keel/src/workspace/processes/environment.ts";
import { openGrammar } from "../keel/src/workspace/processes/grammar.ts";
import { chanceOf } from "./differential/generate.ts";
import {
  gitPlants,
  type PlantedFolder,
  plainRepository,
  plantFolder,
  searchPlants,
} from "./planted/folder.ts";
import { makeTools, obeyedFiles, script } from "./planted/tools.ts";
import { countOf, seed } from "./support/budget.ts";
import { realWorkspace } from "./support/real-workspace.ts";
import { verifies } from "./support/verifies.ts";

const count = countOf("planted-folders");
const place = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-planted-tools-")));
const canaries = path.join(place, "canaries");
const toolsPath = `${place}/tools:/usr/bin:/bin`;
const grammar = openGrammar();

beforeAll(() => {
  mkdirSync(canaries);
  makeTools(path.join(place, "tools"), canaries);
});
afterAll(() => rmSync(place, { recursive: true }));

const versions = Object.keys(obeyedFiles).flatMap((program) =>
  ["--version", "-v", "-V", "-version", "version"].map((option) => `${program} ${option}`),
);
const readers = [
  "ls -la",
  "cat a.txt",
  "grep -rn x src",
  "egrep x a.txt",
  "rg x",
  "sort a.txt | uniq -c",
  "head -n 1 a.txt",
  "tar tzf a.tgz",
  "find . -name '*.ts'",
  "jq . src/deep/c.json",
  "file a.txt",
  "echo hi",
  "shasum a.txt",
  "wc -l src/b.ts",
  "timeout 5 ls",
  "awk '{print $1}' a.txt",
  "sed -n 1p a.txt",
  "gcc --version",
  "bash --version",
];
const gits = [
  "git status",
  "git diff",
  "git status --short",
  "git ls-files -m",
  "git describe --dirty --always",
  "git log --oneline -n 1",
  "git -C sub status",
  "git -C src diff",
  "git -C src/deep/../.. status",
];
const commands = [...versions, ...readers, ...gits, ...gits, ...gits];

/** `kept`: where an earlier command left the shell, below the root. */
async function isAllowed(
  command: string,
  { root, env }: PlantedFolder,
  isTrusted: boolean,
  kept = "",
): Promise<boolean> {
  const workspace = {
    ...realWorkspace({ cwd: root }),
    cwd: path.join(root, kept),
    commands: {
      grammar,
      home: env["HOME"] ?? "/",
      isTrusted,
      place: nodeCommandPlace({ project: root, env }),
    },
  };
  const claims = [{ action: "execute" as const, target: command }];
  const looked = await lookAt(claims, workspace);
  const facts = { tool: "Bash", traits: carefulTraits, claims, mode: "default" as const, ...looked };
  return decide({ ...facts, rules: noRules }).verdict === "allow";
}

const isFolder = (name: string): boolean => {
  try {
    return realpathSync(`${name}/.`) === name;
  } catch {
    return false;
  }
};

/** Without the second wall: the first has to hold alone. */
function run(texts: readonly string[], { root, env }: Pick<PlantedFolder, "root" | "env">): string[] {
  if (texts.length === 0) return [];
  const text = texts.map((each) => `( ${each} )`).join("\n");
  spawnSync("/bin/bash", ["-c", text], { cwd: root, env, stdio: "ignore", timeout: 20_000 });
  return readdirSync(canaries);
}

test("nothing of a planted folder starts by what is allowed unasked", {
  timeout: 60_000 + count * 400,
}, async () => {
  verifies("G35");
  let ran = 0;
  for (let at = 0; at < count; at++) {
    const chance = chanceOf(seed() + at);
    const folder = plantFolder(chance, { canaries, toolsPath });
    const isTrusted = !chance.once(3);
    const wanted = Array.from({ length: 8 }, () => {
      const command = chance.pick(commands);
      return chance.once(3) ? `cd ${chance.pick(["sub", "src", "src/deep"])} && ${command}` : command;
    });
    const allowed: string[] = [];
    for (const command of wanted) {
      const kept = chance.pick(["", "", "sub", "src", "src/deep"]);
      const stands = isFolder(path.join(folder.root, kept)) ? kept : "";
      if (await isAllowed(command, folder, isTrusted, stands)) allowed.push(`cd ./${stands}; ${command}`);
    }
    ran += allowed.length;
    expect(
      run(allowed, folder),
      `${seed() + at}: ${folder.planted.join(", ")}: ${allowed.join(" ; ")}`,
    ).toEqual([]);
    rmSync(folder.base, { recursive: true });
  }
  // Otherwise it would prove nothing.
  expect(ran).toBeGreaterThan(count);
});

describe("the traps are live: run without a question, this starts a program of the folder:", () => {
  const made = (plant: (folder: { root: string; env: Record<string, string> }) => void) => {
    const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-trap-")));
    const folder = {
      base,
      root: path.join(base, "project"),
      env: { PATH: toolsPath, HOME: base },
      planted: [],
    };
    mkdirSync(folder.root);
    script(path.join(folder.root, "evil.sh"), `: > '${canaries}/'"\${1:-evil}"`);
    plant(folder);
    return folder;
  };
  const sprung = (command: string, folder: PlantedFolder): void => {
    expect(run([command], folder)).not.toEqual([]);
    for (const name of readdirSync(canaries)) rmSync(path.join(canaries, name));
    rmSync(folder.base, { recursive: true });
  };

  test.each(Object.keys(gitPlants))("%s", async (name) => {
    const folder = made(({ root, env }) => {
      if (!/root|above/.test(name)) plainRepository(path.join(root, ".git"));
      const plan = { root, env, evil: path.join(root, "evil.sh"), toolsPath };
      gitPlants[name]?.(plan, chanceOf(1));
    });
    const command = /root|above|variable/.test(name) ? "git status" : "cd sub && git status";
    expect(await isAllowed(command, folder, true)).toBe(false);
    const isBelow = command.startsWith("cd sub");
    if (isBelow) expect(await isAllowed("git status", folder, true, "sub")).toBe(false);
    sprung(command, folder);
  });

  test.each(Object.keys(searchPlants))("%s", async (name) => {
    const folder = made(({ root, env }) => {
      const plan = { root, env, evil: path.join(root, "evil.sh"), toolsPath };
      searchPlants[name]?.(plan, { ...chanceOf(1), once: () => false, pick: ([first]) => first as never });
    });
    const command = name === "settings of a search" ? "rg x" : "ls";
    expect(await isAllowed(command, folder, true)).toBe(false);
    sprung(command, folder);
  });

  test.each(Object.entries(obeyedFiles).filter(([, files]) => files.length > 0))(
    "%s",
    async (program, files) => {
      for (const file of files) {
        const folder = made(({ root }) => script(path.join(root, file), "# planted"));
        const command = program === "go" ? "go version" : `${program} --version`;
        expect(await isAllowed(command, folder, true), file).toBe(false);
        sprung(command, folder);
      }
    },
  );
});

test("the second wall: git takes no bare repository that it happens to stand in", () => {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-wall-")));
  const root = path.join(base, "project");
  mkdirSync(root);
  const evil = path.join(root, "evil.sh");
  script(evil, `: > '${canaries}/wall'`);
  const env = {
    PATH: toolsPath,
    HOME: base,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "user.name",
    GIT_CONFIG_VALUE_0: "A",
  };
  gitPlants["a bare repository in a folder"]?.({ root, evil, env, toolsPath }, chanceOf(1));
  const walled = commandEnvironment(env);
  expect(walled).toMatchObject({
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "user.name",
    GIT_CONFIG_KEY_1: "safe.bareRepository",
  });
  expect(commandEnvironment(walled)).toEqual(walled);
  expect(run(["cd sub && git status"], { root, env: walled })).toEqual([]);
  expect(run(["cd sub && git status"], { root, env })).toEqual(["wall"]);
  rmSync(path.join(canaries, "wall"));
  rmSync(base, { recursive: true });
});
