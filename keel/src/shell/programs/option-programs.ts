/** Programs that no one calls a wrapper, but that run another program when an option or their input says so. */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { inputsOf, type ShellStep } from "../meaning/walk.ts";
import { readAwkScript } from "./awk-script.ts";
import { executedBy, findWords } from "./find-tests.ts";
import { gitWords } from "./git-words.ts";
import { readSedScript } from "./sed-script.ts";

/** What a command runs beside itself: either a list of words, or a text for a shell to read. */
export type Inner = { readonly words: readonly Argument[] } | { readonly script: string };

export type Inside = {
  readonly inner: readonly Inner[];
  /** It runs more than its words show. */
  readonly hides: boolean;
};

type InnerReader = (words: readonly Argument[], step: ShellStep) => readonly Inner[];

export function insideOptions(program: string, words: readonly Argument[], step: ShellStep): Inside {
  return { inner: own(programs, program)?.(words, step) ?? [], hides: false };
}

/** The values of an option, attached or in the next word. A long name may be cut short. */
export function valuesOf(words: readonly Argument[], ...options: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    for (const option of options) {
      if (word.text === option) return words[at + 1]?.kind === "fixed" ? [words[at + 1]?.text ?? ""] : [];
      if (!option.startsWith("--")) {
        if (word.text.startsWith(option) && word.text.length > option.length)
          return [word.text.slice(option.length)];
        continue;
      }
      const equals = word.text.indexOf("=");
      const name = equals < 0 ? "" : word.text.slice(0, equals);
      if (name.length > 4 && option.startsWith(name)) return [word.text.slice(equals + 1)];
    }
    return [];
  });
}

const scriptsOf = (texts: readonly string[]): Inner[] => texts.map((script) => ({ script }));

const run =
  (...options: readonly string[]): InnerReader =>
  (words) =>
    scriptsOf(valuesOf(words, ...options));

const find: InnerReader = (words) => executedBy(findWords(words).rest).map((inner) => ({ words: inner }));

const fd: InnerReader = (words) => {
  const at = words.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
  const inner = words.slice(at + 1);
  return at < 0 || inner.length === 0 ? [] : [{ words: inner }];
};

const sed: InnerReader = (words) => {
  const given = valuesOf(words, "-e", "--expression");
  const first = words.find(({ text }) => !text.startsWith("-"))?.text ?? "";
  const texts = given.length > 0 ? given : [first];
  return texts.flatMap((text) => readSedScript(text).runs.map((script) => ({ script })));
};

const awk: InnerReader = (words) =>
  words.flatMap(({ text }) => readAwkScript(text).runs.map((script) => ({ script })));

const tarPrograms = run(
  "-I",
  "-F",
  "--to-command",
  "--use-compress-program",
  "--rmt-command",
  "--rsh-command",
  "--info-script",
  "--new-volume-script",
);
const tar: InnerReader = (words, step) => [
  ...tarPrograms(words, step),
  ...valuesOf(words, "--checkpoint-action").flatMap((action) =>
    action.startsWith("exec=") ? [{ script: action.slice(5) }] : [],
  ),
];

/** `!command` in the scripts of editors. */
const editor: InnerReader = (words, { redirections }) => {
  const commands = [
    ...valuesOf(words, "-c", "--cmd", "-S"),
    ...words.filter(({ text }) => text.startsWith("+")).map(({ text }) => text.slice(1)),
    ...inputsOf(redirections).map(({ text }) => text),
  ];
  return commands.flatMap((text) =>
    text
      .split("\n")
      .flatMap((line) =>
        /^[:\d,$%]*!/.test(line.trim()) ? [{ script: line.trim().replace(/^[:\d,$%]*!/, "") }] : [],
      ),
  );
};

const ssh: InnerReader = (words) =>
  valuesOf(words, "-o").flatMap((setting) => {
    const [, script] =
      /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand)\s*[= ]\s*(.*)$/is.exec(setting) ??
      [];
    return script === undefined ? [] : [{ script }];
  });

const git: InnerReader = (words, step) => {
  const { before, subcommand, rest } = gitWords(words);
  const settings = before.flatMap(({ name, value }) =>
    name === "-c" && value?.kind === "fixed" ? [value.text] : [],
  );
  return [
    ...settings.flatMap(runBySetting),
    ...(own(gitSubcommands, subcommand?.text ?? "")?.(rest, step) ?? []),
  ];
};

/** Settings whose value is a program, and aliases that start with `!`. */
function runBySetting(setting: string): Inner[] {
  const equals = setting.indexOf("=");
  const key = setting.slice(0, equals).toLowerCase();
  const value = setting.slice(equals + 1);
  if (key.startsWith("alias.")) return value.startsWith("!") ? [{ script: value.slice(1) }] : [];
  const runs =
    /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|askpass|gitproxy|alternaterefscommand)|pager\..*|sequence\.editor|diff\.external|.*\.(?:textconv|command|cmd|program|driver|clean|smudge|process|helper|uploadpack|receivepack|proxycommand|tool))$/;
  if (!runs.test(key) || /^(?:true|false|)$/.test(value)) return [];
  return [{ script: value.startsWith("!") ? value.slice(1) : value }];
}

const gitSubcommands: Readonly<Record<string, InnerReader>> = {
  fetch: run("--upload-pack"),
  pull: run("--upload-pack"),
  push: run("--receive-pack", "--exec"),
  clone: (rest) => [
    ...scriptsOf(valuesOf(rest, "-u", "--upload-pack")),
    ...valuesOf(rest, "-c", "--config").flatMap(runBySetting),
  ],
  "ls-remote": run("--upload-pack", "--exec"),
  archive: run("--exec"),
  grep: run("-O", "--open-files-in-pager"),
  rebase: run("-x", "--exec"),
  difftool: run("-x", "--extcmd"),
  bisect: (rest) => (rest[0]?.text === "run" && rest.length > 1 ? [{ words: rest.slice(1) }] : []),
  submodule: (rest) => {
    const at = rest.findIndex(({ text }) => text === "foreach");
    const command = rest.slice(at + 1).filter(({ text }) => text !== "--recursive");
    return at < 0 || command.length === 0 ? [] : [{ script: command.map(({ text }) => text).join(" ") }];
  },
  "filter-branch": run(
    "--setup",
    "--env-filter",
    "--tree-filter",
    "--index-filter",
    "--parent-filter",
    "--msg-filter",
    "--commit-filter",
    "--tag-name-filter",
  ),
};

/** `bundle exec rspec`: what stands behind the verb, and behind its options. */
const behind =
  (verb: RegExp, valued = ""): InnerReader =>
  (words) => {
    const at = words.findIndex(({ text }) => verb.test(text));
    if (at < 0 || words.slice(0, at).some(({ text }) => !text.startsWith("-"))) return [];
    const takesNext = new Set(valued.split(" "));
    let from = at + 1;
    while (words[from]?.text.startsWith("-")) {
      const { text = "" } = words[from] ?? {};
      from += takesNext.has(text) ? 2 : 1;
      if (text === "--") break;
    }
    const inner = words.slice(from);
    return inner.length > 0 ? [{ words: inner }] : [];
  };

const programs: Readonly<Record<string, InnerReader>> = {
  bundle: behind(/^exec$/),
  poetry: behind(/^run$/),
  pipenv: behind(/^run$/),
  uv: behind(/^run$/, "--with --python -p --extra --group --project --directory --env-file --index --from"),
  rye: behind(/^run$/),
  hatch: behind(/^run$/),
  pdm: behind(/^run$/),
  conda: behind(/^run$/, "-n --name -p --prefix --cwd"),
  mamba: behind(/^run$/, "-n --name -p --prefix --cwd"),
  mise: behind(/^(?:exec|x)$/),
  asdf: behind(/^exec$/),
  rbenv: behind(/^exec$/),
  pyenv: behind(/^exec$/),
  npm: (words, step) => [
    ...behind(/^(?:exec|x)$/, "-p --package -c --call -w --workspace")(words, step),
    ...(/^(?:exec|x)$/.test(words[0]?.text ?? "") ? run("-c", "--call")(words, step) : []),
  ],
  nix: (words) => {
    const at = words.findIndex(({ text }) => /^(?:-c|--command|--)$/.test(text));
    return at < 0 || at === words.length - 1 ? [] : [{ words: words.slice(at + 1) }];
  },
  pnpm: behind(/^(?:exec|dlx)$/, "--package --filter -F"),
  yarn: behind(/^(?:exec|dlx)$/, "-p --package"),
  bun: behind(/^x$/),
  find,
  fd,
  fdfind: fd,
  sed,
  gsed: sed,
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  tar,
  gtar: tar,
  bsdtar: tar,
  git,
  rg: run("--pre", "--hostname-bin"),
  sort: run("--compress-program"),
  zip: run("-TT", "--unzip-command"),
  man: run("-P", "--pager", "--html", "-H", "--preprocessor"),
  vim: editor,
  vi: editor,
  nvim: editor,
  view: editor,
  ex: editor,
  ed: editor,
  ssh,
  sftp: (words, step) => [...ssh(words, step), ...scriptsOf(valuesOf(words, "-S"))],
  scp: (words, step) => [...ssh(words, step), ...scriptsOf(valuesOf(words, "-S"))],
  rsync: run("-e", "--rsh", "--rsync-path"),
  less: run("-k"),
  cpio: run("--rsh-command"),
  split: run("--filter"),
  crontab: () => [],
  make: run("--eval"),
  nodemon: run("-x", "--exec"),
  tmux: (words) =>
    /^(?:new|new-session|neww|new-window|run|run-shell|splitw|split-window)$/.test(words[0]?.text ?? "")
      ? words
          .slice(1)
          .filter(({ text }) => /\s/.test(text))
          .map(({ text }) => ({ script: text }))
      : [],
};
