/**
 * Programs that say their version and nothing else. Without an option these run code, and many of them are shims: which
 * program answers is decided by files of the folder. So each names those files, and none is taken for a reader where one
 * of them stands, or where the folder is not trusted. Package managers that run another version of themselves, or a file
 * that the folder names, are not here at all: `yarn` (yarnPath, plugins), `pnpm` and what corepack stands in for
 * (`packageManager` in package.json).
 */
import { type ReadOnlyProgram, shimFiles, shimSource } from "./reader.ts";

/** A program's own files, and the options that ask for its version. */
type VersionRow = {
  readonly programs: string;
  readonly options: string;
  readonly files: string;
  readonly variables?: string;
  readonly source: string;
};

const rows: readonly VersionRow[] = [
  {
    programs: "node tsc",
    options: "--version -v",
    files: ".node-version .nvmrc .nodenv-version",
    variables: "NODE_OPTIONS",
    source: "nodenv, asdf and volta take the version from the folder; node(1): otherwise only NODE_OPTIONS",
  },
  {
    programs: "npm",
    options: "--version -v",
    files: ".node-version .nvmrc .nodenv-version .npmrc",
    variables: "NODE_OPTIONS NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG",
    source: "npmrc(5): the project's file is read at every start; npm 6 had onload-script",
  },
  {
    programs: "bun",
    options: "--version -v",
    files: "bunfig.toml .bunfig.toml .bun-version",
    source: "bun, bunfig.toml: preload",
  },
  { programs: "deno", options: "--version -V", files: ".deno-version .dvmrc", source: "deno, dvm" },
  {
    programs: "python python2 python3 pip pip3",
    options: "--version -V",
    files: ".python-version",
    variables: "PYTHONPATH PYTHONHOME PYTHONSTARTUP",
    source: "pyenv: a version is the name of a folder (CVE-2022-35861: any path)",
  },
  {
    programs: "ruby",
    options: "--version -v",
    files: ".ruby-version .rbenv-version",
    variables: "RUBYOPT RUBYLIB",
    source: "rbenv; ruby(1): RUBYOPT",
  },
  {
    programs: "perl",
    options: "--version -v",
    files: ".perl-version",
    variables: "PERL5OPT PERL5LIB",
    source: "plenv; perlrun(1): PERL5OPT",
  },
  {
    programs: "php",
    options: "--version -v",
    files: ".php-version php.ini php-cli.ini",
    variables: "PHPRC PHP_INI_SCAN_DIR",
    source: "PHP manual, the configuration file: also from the current folder, but for the CLI",
  },
  {
    programs: "rustc cargo",
    options: "--version -V",
    files: "rust-toolchain rust-toolchain.toml .cargo/config .cargo/config.toml",
    variables: "RUSTUP_TOOLCHAIN RUSTUP_HOME CARGO_HOME",
    source: "rustup book, overrides: a toolchain may be a path; cargo book, configuration",
  },
  {
    programs: "java javac",
    options: "-version --version",
    files: ".java-version .jenv-version .hotspotrc",
    variables: "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JDK_JAVAC_OPTIONS JAVA_HOME",
    source: "jenv; java(1): options from variables, .hotspotrc with a flag",
  },
  { programs: "make", options: "--version -v", files: "", variables: "MAKEFLAGS", source: "GNU make manual" },
  {
    programs: "gcc g++ cc clang cmake",
    options: "--version",
    files: "",
    variables: "GCC_EXEC_PREFIX COMPILER_PATH CCC_OVERRIDE_OPTIONS CCACHE_CONFIGPATH CMAKE_ROOT",
    source: "GCC manual, environment variables; clang manual: configuration files beside the program only",
  },
  {
    programs: "bash zsh",
    options: "--version",
    files: "",
    source: "bash(1), zsh(1): no start file is read for --version",
  },
];

const listed = (text: string): string[] => text.split(" ").filter((word) => word !== "");

export const versionReaders: Readonly<Record<string, ReadOnlyProgram>> = Object.fromEntries(
  rows.flatMap(({ programs, options, files, variables = "", source }) => {
    const reader: ReadOnlyProgram = {
      options,
      operands: "none",
      needs: listed(options),
      obeys: {
        files: [...listed(files), ...shimFiles],
        variables: listed(variables),
        source: `${source}; ${shimSource}`,
      },
    };
    return listed(programs).map((program) => [program, reader]);
  }),
);
