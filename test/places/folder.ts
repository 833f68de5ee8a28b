// Folders with links, denied files, hidden files and odd names, made from a seed, and what is written into them so that
// it is known again wherever it comes out.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Chance } from "../differential/generate.ts";

export const canaries = { denied: "DENIEDCANARY", outside: "OUTSIDECANARY" } as const;

export type Place = {
  readonly base: string;
  readonly root: string;
  /** Rules that deny reading, as in settings. */
  readonly deny: readonly string[];
  /** Every name in the folder and one level below, as a word would name it. */
  readonly names: readonly string[];
  readonly repository: "none" | "added" | "committed";
};

const denials: readonly { readonly rule: string; readonly files: readonly string[] }[] = [
  { rule: "Read(./secrets/**)", files: ["secrets/db.txt", "secrets/.hidden", "secrets/deep/x.txt"] },
  { rule: "Read(.env)", files: [".env", "sub/.env"] },
  { rule: "Read(*.pem)", files: ["a.pem", "sub/deep/b.pem"] },
  { rule: "Read(./private.txt)", files: ["private.txt"] },
  { rule: "Read(hidden/)", files: ["hidden/note", "hidden/n.txt"] },
];

const ordinary = [
  "notes.txt",
  "src/a.ts",
  "src/b.ts",
  "sub/x.txt",
  "sub/deep/y.txt",
  ".config",
  "a b.txt",
  "n[o]tes",
  "st*r",
  "ümlaut",
  "if=secrets",
  "@at",
  "x=y",
  "-n",
];

export function makePlace(chance: Chance): Place {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-place-")));
  const root = path.join(base, "project");
  const names = new Set<string>();
  const put = (name: string, content: string, inside = root): void => {
    mkdirSync(path.dirname(path.join(inside, name)), { recursive: true });
    writeFileSync(path.join(inside, name), `${content}\n`);
    if (inside === root) names.add(name).add(name.split("/")[0] ?? name);
  };
  put("readme.md", "fine");
  for (const name of ordinary) if (!chance.once(2)) put(name, "fine");
  put("key", canaries.outside, path.join(base, "outside"));
  put("dir/key.txt", canaries.outside, path.join(base, "outside"));
  put("notes.txt", canaries.outside, path.join(base, "outside"));
  const chosen = denials.filter(() => !chance.once(2));
  for (const { files } of chosen) for (const name of files) put(name, canaries.denied);
  const targets = [
    "../outside/key",
    "../outside/dir",
    "../outside",
    path.join(base, "outside/key"),
    path.join(root, "readme.md"),
    "readme.md",
    "sub",
    "src/a.ts",
    "nowhere",
    "..",
    ".",
    "/proc/self/cwd",
    ...chosen.flatMap(({ files }) =>
      files.flatMap((file) => [file, path.dirname(file), `/proc/self/cwd/${file}`]),
    ),
  ];
  for (let made = chance.below(6); made > 0; made--) {
    const name = chance.pick([
      "link",
      "l.txt",
      "notes.md",
      "sub/in",
      "src/c.ts",
      "n[x]",
      "zz",
      ".dot",
      "link2",
    ]);
    // A chain now and then: what leads to a link.
    const target = chance.once(4) ? chance.pick(["link", "zz", "link2"]) : chance.pick(targets);
    try {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      symlinkSync(
        name.includes("/") && !target.startsWith("/") ? `../${target}` : target,
        path.join(root, name),
      );
      names.add(name);
    } catch {
      // The name is taken.
    }
  }
  const repository = chance.once(4) ? (chance.once(2) ? "committed" : "added") : "none";
  return { base, root, deny: chosen.map(({ rule }) => rule), names: [...names], repository };
}

/** Makes repositories of those that are to be one, all by one process. */
export function makeRepositories(places: readonly Place[]): void {
  const lines = places
    .filter(({ repository }) => repository !== "none")
    .map(
      ({ root, repository }) =>
        `(cd '${root}' && git init -q --template= && git add -A${repository === "committed" ? " && git commit -qm all" : ""})`,
    );
  const { status, stderr } = spawnSync("bash", ["-c", lines.join(" &&\n")], { env: gitEnvironment });
  if (status !== 0) throw new Error(`no repositories: ${stderr}`);
}

const gitEnvironment = {
  PATH: process.env["PATH"],
  HOME: "/nowhere",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_COUNT: "3",
  GIT_CONFIG_KEY_0: "user.name",
  GIT_CONFIG_VALUE_0: "a",
  GIT_CONFIG_KEY_1: "user.email",
  GIT_CONFIG_VALUE_1: "a@b",
  GIT_CONFIG_KEY_2: "maintenance.auto",
  GIT_CONFIG_VALUE_2: "false",
};
