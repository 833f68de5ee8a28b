// Stand-ins for programs that a folder can replace or configure. Each does what its manual says of the files of a folder,
// as far as this test cares: where it finds one of them here or above, a program of the folder has started.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Version managers put a shim of this kind before every program; each takes what these files say. */
const managers = [".tool-versions", ".mise.toml", "mise.toml", ".config/mise/config.toml", ".prototools"];

/** By program: the files of a folder that decide what it runs or loads, from the program's own documentation. */
export const obeyedFiles: Readonly<Record<string, readonly string[]>> = {
  yarn: [".yarnrc.yml", ".yarnrc", "package.json"],
  pnpm: ["package.json", ".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs"],
  npm: [".npmrc", ".node-version", ".volta/hooks.json"],
  bun: ["bunfig.toml"],
  deno: [],
  node: [".node-version", ".nvmrc", ".volta/hooks.json"],
  tsc: [".node-version"],
  rustc: ["rust-toolchain", "rust-toolchain.toml"],
  cargo: ["rust-toolchain", "rust-toolchain.toml", ".cargo/config.toml"],
  go: ["go.mod", "go.work"],
  python: [".python-version"],
  python3: [".python-version"],
  pip: [".python-version"],
  ruby: [".ruby-version"],
  perl: [".perl-version"],
  php: ["php.ini", ".php-version"],
  java: [".java-version"],
  javac: [".java-version"],
  gradle: ["build.gradle", "settings.gradle", "gradle.properties"],
  mvn: ["pom.xml", ".mvn/extensions.xml"],
  bazel: [".bazelrc", "WORKSPACE"],
  prettier: [".prettierrc", ".editorconfig"],
  eslint: [".eslintrc.js", "eslint.config.js"],
  hg: [".hg/hgrc"],
  direnv: [".envrc"],
  gdb: [".gdbinit"],
  make: [],
  cmake: [],
  clang: [],
};

/** Files that name programs only for other programs than those above, and must not disturb. */
export const otherFiles: readonly string[] = [
  ".jq",
  ".magic",
  ".ripgreprc",
  ".curlrc",
  ".sqliterc",
  ".editorconfig",
  "Makefile",
  "CMakeLists.txt",
  ".gitattributes",
  ".ignore",
  ".hotspotrc",
];

export const plantedFiles: readonly string[] = [
  ...new Set([...Object.values(obeyedFiles).flat(), ...managers, ...otherFiles]),
];

/** A folder of such programs, to be the first of PATH. Whoever obeys leaves a mark among the canaries. */
export function makeTools(folder: string, canaries: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [program, files] of Object.entries(obeyedFiles)) {
    const words = [...files, ...managers].map((file) => `'${file}'`).join(" ");
    script(
      path.join(folder, program),
      `at=$(pwd -P)
while :; do
  for file in ${words}; do
    if [ -e "$at/$file" ] || [ -L "$at/$file" ]; then : > '${canaries}/${program}'; fi
  done
  [ "$at" = / ] && break
  at=\${at%/*}; at=\${at:-/}
done
echo ${program} 1.0`,
    );
  }
  script(
    path.join(folder, "rg"),
    `[ -n "$RIPGREP_CONFIG_PATH" ] && [ -e "$RIPGREP_CONFIG_PATH" ] && : > '${canaries}/rg'; exit 0`,
  );
}

export function script(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}
