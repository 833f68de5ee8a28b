import type { PathFacts } from "../ports/workspace.ts";
import type { Claim } from "../protocol/tool.ts";

/**
 * Paths that are asked about whatever the mode, since somebody else runs or trusts what stands in them: a write there is
 * a program in disguise. By name, at any depth, in any case, whether they exist or not. Pure.
 */

/** Why a write to this path must be asked, or undefined for an ordinary one. */
export function protectionOf(
  facts: Pick<PathFacts, "path" | "own" | "named" | "besideHead">,
): string | undefined {
  if (facts.own) return "Keel keeps its own settings and sessions there";
  if (facts.named !== undefined) return `${facts.named} names it, and what stands in it runs`;
  if (facts.besideHead) return besideHead;
  if (exactNames.has(facts.path.slice(facts.path.lastIndexOf("/") + 1))) return besideHead;
  const names = facts.path.split(/[/\\]/).map(folded).filter(Boolean);
  const found = matchesIn(names);
  return found.length === 0 ? undefined : rows[Math.min(...found)]?.because;
}

/** The same for a claim: by the name that was claimed, which may be a link's, and by where it leads. */
export function protectedClaim(
  { action, target }: Claim,
  paths: ReadonlyMap<string, PathFacts>,
): string | undefined {
  if (action !== "write") return undefined;
  const facts = paths.get(target);
  const because = protectionOf({ path: target }) ?? (facts && protectionOf(facts));
  return because === undefined ? undefined : `${target} is protected: ${because}`;
}

/** Why a read must be asked whatever the mode: it is of Keel's own folder, and nobody gave it to this session by name. */
export function ownClaim(
  { action, target }: Claim,
  paths: ReadonlyMap<string, PathFacts>,
): string | undefined {
  const facts = paths.get(target);
  return action === "read" && facts?.own && facts.root === undefined
    ? `${target} is Keel's own: keys, sessions and settings are kept there`
    : undefined;
}

/** What a pattern of the shell may give, if that is protected; a bare star is no name that anybody chose. */
export function protectedPattern(pattern: string): string | undefined {
  const names = pattern.replaceAll(/["']/g, "").split("/").filter(Boolean);
  const may = (at: number, name: string): boolean => mayBe(names[at] ?? "", name);
  const row = rows.find(
    ({ directories: inner = [], files: last = [], endings = [] }) =>
      inner.some((text) => {
        const parts = text.split("/");
        return names.some((_, at) => parts.every((part, offset) => may(at + offset, part)));
      }) ||
      last.some((text) => {
        const parts = text.split("/");
        return parts.every((part, offset) => may(names.length - parts.length + offset, part));
      }) ||
      endings.some((ending) => names.some((name) => mayBe(name, `*${ending}`) && !isStar(name))),
  );
  if (row) return row.because;
  return [...exactNames].some((name) => mayBe(names.at(-1) ?? "", name)) ? besideHead : undefined;
}

const isStar = (name: string): boolean => /^\*+$/.test(name);

/** Whether a pattern may give this name. A dot at the start is only found by a dot; brackets may hold any sign. */
function mayBe(pattern: string, name: string): boolean {
  if (isStar(pattern) || (name.startsWith(".") && !pattern.startsWith("."))) return false;
  if (!/[*?[]/.test(pattern)) return folded(pattern) === name;
  const signs = pattern.toLowerCase().replaceAll(/\[[^\]]*\]/g, "?");
  return matchesWildcards(signs, name.toLowerCase());
}

/** In the time of their lengths: only the last star has to be tried again. */
function matchesWildcards(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  for (let read = 0; read < text.length; ) {
    if (at < pattern.length && (pattern[at] === "?" || (pattern[at] !== "*" && pattern[at] === text[read]))) {
      at += 1;
      read += 1;
    } else if (pattern[at] === "*") {
      star = at;
      at += 1;
      retry = read;
    } else if (star >= 0) {
      at = star + 1;
      retry += 1;
      read = retry;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}

/** Git takes a folder with one of these for a repository; other names are compared without their case. */
const exactNames: ReadonlySet<string> = new Set(["HEAD", "commondir", "gitdir"]);
const besideHead = "git takes a folder with it for a repository, and runs what its settings name";

type ProtectedRow = {
  /** Directories, with all that is in them; a name with `/` is a path of several. */
  readonly directories?: readonly string[];
  readonly files?: readonly string[];
  /** Only at the root of the file system. */
  readonly absolute?: readonly string[];
  /** Directories whose name ends like this. */
  readonly endings?: readonly string[];
  readonly because: string;
};

const rows: readonly ProtectedRow[] = [
  {
    directories: [".git", ".hg", ".svn", ".jj", ".config/git"],
    // A bare repository is one for git wherever it stands.
    endings: [".git"],
    files: [".gitconfig", ".gitmodules", ".gitattributes", ".hgrc"],
    because: "git and its kind run the hooks and programs that are named there",
  },
  {
    directories: [".husky", ".githooks", ".lefthook"],
    files: [
      "lefthook.yml",
      "lefthook.yaml",
      "lefthook.toml",
      "lefthook.json",
      ".lefthook.yml",
      ".lefthook.yaml",
      ".lefthook.toml",
      ".lefthook.json",
      ".pre-commit-config.yaml",
      ".pre-commit-config.yml",
      ".overcommit.yml",
    ],
    because: "git hooks run what stands there",
  },
  {
    directories: [".keel", ".claude"],
    files: [".mcp.json", ".claude.json"],
    because: "it tells Keel itself what to run and what to allow",
  },
  {
    files: [
      ".bashrc",
      ".bash_profile",
      ".bash_login",
      ".bash_logout",
      ".bash_aliases",
      ".bash_completion",
      ".profile",
      ".zshrc",
      ".zshenv",
      ".zprofile",
      ".zlogin",
      ".zlogout",
      ".zsh_aliases",
      ".kshrc",
      ".mkshrc",
      ".cshrc",
      ".tcshrc",
      ".login",
      ".logout",
      ".inputrc",
      ".aliases",
      ".xinitrc",
      ".xprofile",
      ".xsession",
      ".xsessionrc",
      ".pam_environment",
      "microsoft.powershell_profile.ps1",
    ],
    directories: [".bashrc.d", ".zshrc.d", ".oh-my-zsh", ".config/fish", ".config/powershell"],
    because: "every new shell runs it",
  },
  {
    files: [".envrc", ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml", ".direnvrc"],
    directories: [".direnv", ".mise", ".config/mise", ".config/direnv"],
    because: "it is run when a shell enters the directory",
  },
  {
    directories: [".ssh", ".gnupg"],
    files: [".netrc", "_netrc", ".rhosts", ".shosts", ".forward", "authorized_keys"],
    because: "it decides who may log in and with which key",
  },
  {
    directories: [".aws", ".azure", ".kube", ".config/gcloud", ".config/gh"],
    files: [".docker/config.json", ".terraformrc"],
    because: "it holds credentials and names programs that supply them",
  },
  {
    directories: [".vscode", ".idea", ".vs", ".zed", ".fleet", ".cursor", ".devcontainer"],
    files: [
      ".devcontainer.json",
      ".vimrc",
      ".gvimrc",
      ".nvimrc",
      ".exrc",
      ".nvim.lua",
      ".emacs",
      ".dir-locals.el",
    ],
    because: "an editor runs the tasks and programs that are named there",
  },
  {
    files: [
      ".npmrc",
      ".yarnrc",
      ".yarnrc.yml",
      ".pnpmfile.cjs",
      ".pnpmfile.mjs",
      "bunfig.toml",
      ".bunfig.toml",
      ".pypirc",
      "pip.conf",
      ".pydistutils.cfg",
      ".condarc",
      ".gemrc",
      "nuget.config",
      ".cargo/config",
      ".cargo/config.toml",
      ".bundle/config",
      ".bazelrc",
      ".buckconfig",
      ".gradle/init.gradle",
      ".gradle/gradle.properties",
    ],
    directories: [".yarn", ".mvn", ".gradle/init.d", ".config/pip"],
    because: "a package manager or a build takes programs and addresses from it",
  },
  {
    files: [
      ".ripgreprc",
      ".curlrc",
      ".wgetrc",
      ".tmux.conf",
      ".screenrc",
      ".gdbinit",
      ".lldbinit",
      ".psqlrc",
      ".sqliterc",
      ".irbrc",
      ".pryrc",
      ".rprofile",
      ".pythonrc",
      ".pdbrc",
      ".lesskey",
    ],
    because: "a program reads it at its start and may run what it says",
  },
  {
    directories: [
      ".config/systemd",
      ".config/autostart",
      ".config/environment.d",
      ".local/bin",
      ".local/share/systemd",
      ".local/share/applications",
      "library/launchagents",
      "library/launchdaemons",
      "start menu/programs/startup",
    ],
    files: [".crontab"],
    because: "the system runs it without being asked",
  },
  {
    absolute: [
      "etc",
      "boot",
      "bin",
      "sbin",
      "lib",
      "lib64",
      "sys",
      "dev",
      "proc",
      "var/spool/cron",
      "usr/bin",
      "usr/sbin",
      "usr/lib",
      "usr/local/bin",
      "usr/local/sbin",
      "usr/local/lib",
    ],
    because: "it is a part of the system",
  },
];

/** Every name of the rows by where it is looked for, with the number of its row: a command may name many paths. */
type ProtectedNames = { readonly names: readonly string[]; readonly row: number };
const directories = partsBy("directories", (names) => names[0]);
const files = partsBy("files", (names) => names.at(-1));
const absolutes = partsBy("absolute", (names) => names[0]);
const nameEndings = rows.flatMap(({ endings = [] }, row) => endings.map((ending) => ({ ending, row })));

/** The numbers of the rows that these names are in. */
function matchesIn(names: readonly string[]): number[] {
  const standsAt = (start: number) => (part: ProtectedNames) =>
    part.names.every((name, offset) => names[start + offset] === name);
  const below = names.flatMap((name, at) => (directories.get(name) ?? []).filter(standsAt(at)));
  const last = (files.get(names.at(-1) ?? "") ?? []).filter((part) =>
    standsAt(names.length - part.names.length)(part),
  );
  const first = (absolutes.get(names[0] ?? "") ?? []).filter(standsAt(0));
  const ended = nameEndings.filter(({ ending }) => names.some((name) => name.endsWith(ending)));
  return [...below, ...last, ...first, ...ended].map(({ row }) => row);
}

function partsBy(
  list: "directories" | "files" | "absolute",
  keyOf: (names: readonly string[]) => string | undefined,
): ReadonlyMap<string, readonly ProtectedNames[]> {
  const parts = rows.flatMap((each, row) =>
    (each[list] ?? []).map((text) => ({ names: text.split("/"), row })),
  );
  return Map.groupBy(parts, ({ names }) => keyOf(names) ?? "");
}

/**
 * A name as the most lenient file system takes it: without case, without signs that cannot be seen, without blanks and
 * dots at its end, up to the colon that names a part of a file, and with the short name that Windows makes of `.git`.
 */
function folded(name: string): string {
  // Most names are made of letters in which nothing can be hidden.
  if (/^(?:[\w.-]*[\w-])?$/.test(name)) return name.toLowerCase();
  const plain = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  const bare = plain
    .toUpperCase()
    .toLowerCase()
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "");
  return /^git~\d$/.test(bare) ? ".git" : bare;
}
