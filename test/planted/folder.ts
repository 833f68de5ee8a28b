// A folder that somebody has prepared: a project with repositories, links and settings of tools that would start a program
// of it. Made from a seed.
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Chance } from "../differential/generate.ts";
import { plantedFiles, script } from "./tools.ts";

export type PlantedFolder = {
  /** All that was made. */
  readonly base: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was planted, for a message. */
  readonly planted: readonly string[];
};

type Plan = { root: string; evil: string; env: Record<string, string>; toolsPath: string };
type Plant = (plan: Plan, chance: Chance) => void;

/** A repository as `git init` makes it, without asking git: there are thousands of them. */
export function plainRepository(folder: string, config = ""): void {
  for (const inner of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
    mkdirSync(path.join(folder, inner), { recursive: true });
  writeFileSync(path.join(folder, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(
    path.join(folder, "config"),
    `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${config}`,
  );
}

const hostile = ({ evil }: Plan, more = ""): string => `\tfsmonitor = "sh ${evil} git; false"\n${more}`;
const bare = (plan: Plan): string => hostile(plan, "\tworktree = .\n");

/** Ways in which git may find settings that are not the project's. */
export const gitPlants: Readonly<Record<string, Plant>> = {
  "a bare repository in a folder": (plan) => plainRepository(path.join(plan.root, "sub"), bare(plan)),
  "a bare repository with a link for its head": (plan) => {
    const folder = path.join(plan.root, "sub");
    plainRepository(path.join(folder, "x"), bare(plan));
    for (const inner of ["objects/info", "refs/heads"])
      mkdirSync(path.join(folder, inner), { recursive: true });
    writeFileSync(path.join(folder, "config"), `[core]\n\trepositoryformatversion = 0\n${bare(plan)}`);
    symlinkSync("refs/heads/main", path.join(folder, "HEAD"));
  },
  "a bare repository at the root": (plan) => plainRepository(plan.root, bare(plan)),
  "a clone in a folder": (plan) => plainRepository(path.join(plan.root, "sub/.git"), hostile(plan)),
  "a file that leads to a repository": (plan) => {
    plainRepository(path.join(plan.root, "store"), hostile(plan));
    mkdirSync(path.join(plan.root, "sub"), { recursive: true });
    writeFileSync(path.join(plan.root, "sub/.git"), "gitdir: ../store\n");
  },
  "a link to a repository": (plan) => {
    plainRepository(path.join(plan.root, "store"), hostile(plan));
    mkdirSync(path.join(plan.root, "sub"), { recursive: true });
    symlinkSync("../store", path.join(plan.root, "sub/.git"));
  },
  "a worktree of a repository that came along": (plan) => {
    plainRepository(path.join(plan.root, "store"), hostile(plan));
    const folder = path.join(plan.root, "store/worktrees/sub");
    mkdirSync(folder, { recursive: true });
    mkdirSync(path.join(plan.root, "sub"), { recursive: true });
    writeFileSync(path.join(folder, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(path.join(folder, "commondir"), "../..\n");
    writeFileSync(path.join(folder, "gitdir"), `${plan.root}/sub/.git\n`);
    writeFileSync(path.join(plan.root, "sub/.git"), "gitdir: ../store/worktrees/sub\n");
  },
  "a repository that a variable names": (plan) => {
    plainRepository(path.join(plan.root, "store"), hostile(plan));
    plan.env["GIT_DIR"] = "store";
  },
  "a repository above the project": (plan) =>
    plainRepository(path.join(path.dirname(plan.root), ".git"), hostile(plan)),
};

/** Ways in which the name of a program, or what it loads, is the folder's. */
export const searchPlants: Readonly<Record<string, Plant>> = {
  "a folder of the project on PATH": (plan, chance) => {
    plan.env["PATH"] = `${plan.root}/node_modules/.bin:${plan.toolsPath}`;
    fakes(plan, "node_modules/.bin", chance);
  },
  "the folder itself on PATH": (plan, chance) => {
    plan.env["PATH"] = chance.pick([`.:${plan.toolsPath}`, `:${plan.toolsPath}`, `./:${plan.toolsPath}`]);
    fakes(plan, chance.pick([".", "sub"]), chance);
  },
  "a link outside that leads into the project": (plan, chance) => {
    const link = path.join(path.dirname(plan.root), "bin");
    symlinkSync(path.join(plan.root, "tools"), link);
    plan.env["PATH"] = `${link}:${plan.toolsPath}`;
    fakes(plan, "tools", chance);
  },
  "a start file of the shell": (plan) => {
    plan.env["BASH_ENV"] = "./start.sh";
    script(path.join(plan.root, "start.sh"), `sh ${plan.evil} bash`);
  },
  "settings of a search": (plan) => {
    plan.env["RIPGREP_CONFIG_PATH"] = ".ripgreprc";
    writeFileSync(path.join(plan.root, ".ripgreprc"), `--pre=${plan.evil}\n`);
  },
};

function fakes(plan: Plan, folder: string, chance: Chance): void {
  for (const program of ["ls", "cat", "git", "gzip", "grep", "node", "sort"])
    if (!chance.once(3)) script(path.join(plan.root, folder, program), `sh ${plan.evil} fake-${program}`);
}

export function plantFolder(
  chance: Chance,
  { canaries, toolsPath }: { canaries: string; toolsPath: string },
): PlantedFolder {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-planted-")));
  const root = path.join(base, "project");
  mkdirSync(path.join(root, "src/deep"), { recursive: true });
  for (const file of ["a.txt", "src/b.ts", "src/deep/c.json"]) writeFileSync(path.join(root, file), "1\n");
  const evil = path.join(root, "evil.sh");
  script(evil, `: > '${canaries}/'"\${1:-evil}"`);
  const plan: Plan = { root, evil, env: { PATH: toolsPath, HOME: base }, toolsPath };
  const planted: string[] = [];
  const isRepository = !chance.once(3);
  if (isRepository) plainRepository(path.join(root, ".git"));
  const put = (plants: Readonly<Record<string, Plant>>): void => {
    const name = chance.pick(Object.keys(plants));
    if (isRepository && /at the root|above/.test(name)) return;
    plants[name]?.(plan, chance);
    planted.push(name);
  };
  if (!chance.once(3)) put(gitPlants);
  if (chance.once(4)) put(searchPlants);
  for (let left = chance.below(4); left > 0; left--) planted.push(plantFile(plan, chance));
  return { base, root, env: plan.env, planted };
}

/** Here, above or below; as a file, a folder, or a link that leads somewhere or nowhere. */
function plantFile({ root, evil }: Plan, chance: Chance): string {
  const name = chance.pick(plantedFiles);
  const file = path.join(root, chance.pick([".", ".", "src", "..", "sub"]), name);
  mkdirSync(path.dirname(file), { recursive: true });
  try {
    if (chance.once(4)) symlinkSync(chance.pick([evil, "/nowhere/at/all"]), file);
    else if (chance.once(8)) mkdirSync(file);
    else writeFileSync(file, `path = ${evil}\nyarnPath: ${evil}\n`);
  } catch {
    // Something stands there already, which is as good.
  }
  return file;
}
