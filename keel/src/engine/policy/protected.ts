/**
 * Paths that are asked about whatever the mode, since somebody else runs or trusts what stands in them: a write there is
 * a program in disguise. By name, at any depth, in any case, whether they exist or not. Pure.
 */
import type { PathFacts } from "../ports.ts";

/** Why a write to this path must be asked, or undefined for an ordinary one. */
export function protectionOf(facts: Pick<PathFacts, "path" | "own">): string | undefined {
  if (facts.own) return "Keel keeps its own settings and sessions there";
  const names = facts.path.split(/[/\\]/).map(folded).filter(Boolean);
  return rows.find((row) => isIn(row, names))?.because;
}

type Row = {
  /** Directories, with all that is in them; a name with `/` is a path of several. */
  readonly directories?: readonly string[];
  readonly files?: readonly string[];
  /** Only at the root of the file system. */
  readonly absolute?: readonly string[];
  /** Directories whose name ends like this. */
  readonly endings?: readonly string[];
  readonly because: string;
};

const rows: readonly Row[] = [
  {
    directories: [".git", ".hg", ".svn", ".jj", ".config/git"],
    // A bare repository is one for git wherever it stands.
    endings: [".git"],
    files: [".gitconfig", ".gitmodules", ".hgrc"],
    because: "git and its kind run the hooks and programs that are named there",
  },
  {
    directories: [".husky", ".githooks", ".lefthook"],
    files: [
      ...["lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json"],
      ...[".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json"],
      ...[".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml"],
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
      ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion"],
      ...[".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh_aliases"],
      ...[".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".aliases"],
      ...[".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment"],
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
      ...[
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pnpmfile.cjs",
        ".pnpmfile.mjs",
        "bunfig.toml",
        ".bunfig.toml",
      ],
      ...[".pypirc", "pip.conf", ".pydistutils.cfg", ".condarc", ".gemrc", "nuget.config"],
      ...[".cargo/config", ".cargo/config.toml", ".bundle/config", ".bazelrc", ".buckconfig"],
      ...[".gradle/init.gradle", ".gradle/gradle.properties"],
    ],
    directories: [".yarn", ".mvn", ".gradle/init.d", ".config/pip"],
    because: "a package manager or a build takes programs and addresses from it",
  },
  {
    files: [
      ...[".ripgreprc", ".curlrc", ".wgetrc", ".tmux.conf", ".screenrc", ".gdbinit", ".lldbinit"],
      ...[".psqlrc", ".sqliterc", ".irbrc", ".pryrc", ".rprofile", ".pythonrc", ".pdbrc", ".lesskey"],
    ],
    because: "a program reads it at its start and may run what it says",
  },
  {
    directories: [
      ...[".config/systemd", ".config/autostart", ".config/environment.d", ".local/bin"],
      ...[
        ".local/share/systemd",
        ".local/share/applications",
        "library/launchagents",
        "library/launchdaemons",
      ],
      "start menu/programs/startup",
    ],
    files: [".crontab"],
    because: "the system runs it without being asked",
  },
  {
    absolute: [
      ...["etc", "boot", "bin", "sbin", "lib", "lib64", "sys", "dev", "proc", "var/spool/cron"],
      ...["usr/bin", "usr/sbin", "usr/lib", "usr/local/bin", "usr/local/sbin", "usr/local/lib"],
    ],
    because: "it is a part of the system",
  },
];

function isIn(
  { directories = [], files = [], absolute = [], endings = [] }: Row,
  names: readonly string[],
): boolean {
  return (
    directories.some((directory) => startOf(names, directory.split("/")) >= 0) ||
    files.some((file) => endsWith(names, file.split("/"))) ||
    absolute.some((start) => startOf(names, start.split("/")) === 0) ||
    names.some((name) => endings.some((ending) => name.endsWith(ending)))
  );
}

/** Where `part` stands in `names` as neighbours, or -1. */
function startOf(names: readonly string[], part: readonly string[]): number {
  return names.findIndex((_, start) => part.every((name, offset) => names[start + offset] === name));
}

const endsWith = (names: readonly string[], part: readonly string[]): boolean =>
  part.every((name, offset) => names[names.length - part.length + offset] === name);

/**
 * A name as the most lenient file system takes it: without case, without signs that cannot be seen, without blanks and
 * dots at its end, up to the colon that names a part of a file, and with the short name that Windows makes of `.git`.
 */
function folded(name: string): string {
  const plain = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  const bare = plain
    .toUpperCase()
    .toLowerCase()
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "");
  return /^git~\d$/.test(bare) ? ".git" : bare;
}
