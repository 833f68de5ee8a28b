/**
 * What commands of a workspace may do inside: its roots are writable, but for what others run or trust; secrets, Keel's
 * own files and what rules deny cannot be read. The same table of protected names as for files that Keel writes itself.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import { protectionOf } from "../../policy/protected.ts";
import type { Confinement } from "../../ports/sandbox.ts";

export type ConfinementWishes = {
  readonly roots: readonly string[];
  /** The person's home. */
  readonly home: string;
  /** Keel's own folders, and what of them commands may read. */
  readonly own: readonly string[];
  readonly lent: readonly string[];
  /** Files that settings name as programs. */
  readonly named: readonly string[];
  readonly allowWrite: readonly string[];
  readonly denyWrite: readonly string[];
  readonly allowRead: readonly string[];
  readonly denyRead: readonly string[];
  /** What rules deny. */
  denies(action: "read" | "write", place: string): boolean;
} & Pick<Confinement, "egress" | "unixSockets" | "nested">;

/** Below the home: keys, tokens and what was typed. */
const secrets = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".config/gcloud",
  ".config/gh",
  ".config/op",
  ".password-store",
  ".netrc",
  "_netrc",
  ".pgpass",
  ".my.cnf",
  ".pypirc",
  ".git-credentials",
  ".config/git/credentials",
  ".docker/config.json",
  ".vault-token",
  ".terraform.d/credentials.tfrc.json",
  ".cargo/credentials.toml",
  ".local/share/keyrings",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  ".thunderbird",
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".claude.json",
  ".claude/.credentials.json",
  ".codex/auth.json",
  ".gemini/oauth_creds.json",
];
const systemSecrets = [
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/shadow-",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/root/.ssh",
];
/** What package managers and compilers keep for the next time. */
const caches = [".cache", ".npm", ".cargo/registry", ".gradle/caches", ".m2/repository", "go/pkg"];
/** At the root of a project they tell Keel, editors and other agents what to run; also where they are not there yet. */
const settingsOfAgents = [
  ".keel",
  ".claude",
  ".mcp.json",
  ".vscode",
  ".idea",
  ".cursor",
  ".codex",
  ".gemini",
];
/** In a home that is a root every new shell runs them. */
const startFiles = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".profile",
  ".bash_logout",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".gitconfig",
  ".inputrc",
  ".ssh",
  ".config",
  ".local/bin",
];

export function confinementOf(wishes: ConfinementWishes): Confinement {
  const { home, roots } = wishes;
  const inHome = (names: readonly string[]): string[] => names.map((name) => path.join(home, name));
  const expanded = (places: readonly string[]): string[] =>
    places.map((place) =>
      realOf(place.startsWith("~/") ? path.join(home, place.slice(2)) : path.resolve(roots[0] ?? "/", place)),
    );
  const repositories = roots.flatMap((root) => repositoryOf(root));
  const writable = [...roots, ...repositories.map(({ common }) => common), ...expanded(wishes.allowWrite)];
  const found = roots.flatMap((root) => search(root, wishes));
  const isRootHome = roots.includes(realOf(home));
  return {
    writable: unique(writable),
    unwritable: unique([
      ...repositories.flatMap(({ common }) => keptInRepository(common)),
      ...roots.flatMap((root) => settingsOfAgents.map((name) => path.join(root, name))),
      ...(isRootHome ? inHome(startFiles) : []),
      ...found.flatMap(({ place, kind }) => (kind === "write" ? [place] : [])),
      ...wishes.named,
      ...wishes.own,
      ...expanded(wishes.denyWrite),
    ]),
    unreadable: unique([
      ...inHome(secrets).map(realOf),
      ...systemSecrets,
      ...tokensOfNpm(home),
      ...wishes.own,
      ...found.flatMap(({ place, kind }) => (kind === "read" ? [place] : [])),
      ...expanded(wishes.denyRead),
    ]),
    readable: unique([...wishes.lent, ...expanded(wishes.allowRead)]),
    scratch: inHome(caches)
      .map(realOf)
      .filter((place) => !isInside(place, writable)),
    egress: wishes.egress,
    unixSockets: wishes.unixSockets === "all" ? "all" : expanded(wishes.unixSockets),
    nested: wishes.nested,
  };
}

const unique = (places: readonly string[]): string[] => [...new Set(places)];

/** Most settings of npm are no secret. */
function tokensOfNpm(home: string): string[] {
  const file = path.join(home, ".npmrc");
  try {
    return /_auth|_password/i.test(readFileSync(file, "utf8")) ? [file] : [];
  } catch {
    return [];
  }
}

/** What of a repository names programs that git runs. */
function keptInRepository(folder: string): string[] {
  const names = ["hooks", "config", "config.worktree", "info/attributes"];
  const modules = path.join(folder, "modules");
  const below = namesIn(modules).flatMap((name) => [
    path.join(modules, name, "hooks"),
    path.join(modules, name, "config"),
  ]);
  return [
    // Missing ones are made as empty folders, which git does not want as its settings.
    ...names
      .map((name) => path.join(folder, name))
      .filter((place) => place.endsWith("/hooks") || existsSync(place)),
    ...below,
  ];
}

/** The folder that git writes to: a worktree has it elsewhere, and that counts only where it says the same of the worktree. */
function repositoryOf(root: string): { readonly common: string }[] {
  const dotGit = path.join(root, ".git");
  const found = lstatSync(dotGit, { throwIfNoEntry: false });
  if (found?.isDirectory()) return [{ common: dotGit }];
  if (!found?.isFile()) return [];
  try {
    const named = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, "utf8"))?.[1] ?? "";
    const own = realpathSync.native(path.resolve(root, named));
    const back = readFileSync(path.join(own, "gitdir"), "utf8").trim();
    const common = realpathSync.native(
      path.resolve(own, readFileSync(path.join(own, "commondir"), "utf8").trim()),
    );
    const isMutual = realOf(back) === dotGit && path.dirname(own) === path.join(common, "worktrees");
    return isMutual ? [{ common }] : [];
  } catch {
    return [];
  }
}

/** How deep and how much is looked at; what lies deeper is as writable as any other file. */
const deepest = 3;
const mostEntries = 4_000;
const notSearched = new Set(["node_modules", ".git", "target", "dist", "build", "vendor", ".venv"]);

type GuardedFile = { readonly place: string; readonly kind: "read" | "write" };

/** Protected names and what rules deny, as far as they exist. */
function search(root: string, { denies }: Pick<ConfinementWishes, "denies">): GuardedFile[] {
  const found: GuardedFile[] = [];
  let looked = 0;
  const visit = (folder: string, depth: number): void => {
    for (const { name, isFolder } of entriesOf(folder)) {
      looked += 1;
      if (looked > mostEntries) return;
      const place = path.join(folder, name);
      if (denies("read", place)) found.push({ place, kind: "read" });
      else if (name === ".git" && isFolder) {
        if (depth > 0)
          found.push(...keptInRepository(place).map((kept): GuardedFile => ({ place: kept, kind: "write" })));
      } else if (protectionOf({ path: place }) !== undefined || denies("write", place))
        found.push({ place, kind: "write" });
      else if (isFolder && depth + 1 < deepest && !notSearched.has(name)) visit(place, depth + 1);
    }
  };
  visit(root, 0);
  return found;
}

function entriesOf(folder: string): { readonly name: string; readonly isFolder: boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      isFolder: entry.isDirectory(),
    }));
  } catch {
    return []; // Nobody may look there, or it is gone.
  }
}

const namesIn = (folder: string): string[] => entriesOf(folder).map(({ name }) => name);

function realOf(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    return place;
  }
}
