// Another machine without another machine: a home, a folder and a Keel of its own, reached by a program in place of `ssh`.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

export type FakeSshConfig = {
  /** What the other machine's shell has. */
  readonly env: Readonly<Record<string, string>>;
  /** A line for each time that the line was opened. */
  readonly opened: string;
  readonly seed: number;
  /** How many of them are cut, the first never. */
  readonly cuts: number;
  /** Each within so many bytes of one direction. */
  readonly maxBytes: number;
  readonly delayMs?: number;
  /** What a shell there prints before anything else. */
  readonly noise?: string;
};

export type FakeSsh = {
  /** In place of `ssh`. */
  readonly program: string;
  /** For the environment of who calls it. */
  readonly env: Readonly<Record<string, string>>;
  opened(): { readonly pid: number; readonly given: readonly string[] }[];
  change(config: Partial<FakeSshConfig>): void;
};

export function fakeSsh(folder: string, first: Partial<FakeSshConfig> & Pick<FakeSshConfig, "env">): FakeSsh {
  mkdirSync(folder, { recursive: true });
  const [program, file, opened] = ["ssh", "config.json", "opened"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const child = path.join(import.meta.dirname, "fake-ssh-child.ts");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${child} "$@"\n`);
  chmodSync(program, 0o755);
  writeFileSync(opened, "");
  let config: FakeSshConfig = { opened, seed: 1, cuts: 0, maxBytes: 4_000, ...first };
  const change = (more: Partial<FakeSshConfig>): void => {
    config = { ...config, ...more };
    writeFileSync(file, JSON.stringify(config));
  };
  change({});
  return {
    program,
    env: { FAKE_SSH: file },
    opened: () =>
      readFileSync(opened, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    change,
  };
}

/** Puts the command into a folder of a PATH. */
export function install(command: string, bin: string): void {
  mkdirSync(bin, { recursive: true });
  symlinkSync(command, path.join(bin, "keel"));
}
