/**
 * Other names that programs themselves have for one command. They widen rules that deny or ask, and nothing else: a
 * row too many asks, a row too few runs. Each row says where it is from.
 */
import { own } from "../../kernel/json.ts";

/** Programs that are one and the same, or that answer to the same words. The first name stands for all. */
const sameProgram: readonly string[] = [
  "npm npm-cli", // npm's own package: bin/
  "yarn yarnpkg", // yarn's package: bin/
  "pip pip3", // pip's documentation, "getting started"
  "python python3 py", // PEP 394, PEP 397
  "node nodejs", // Debian's package of node
  "apt apt-get", // apt(8): the same words
  "dnf yum dnf5 microdnf", // dnf(8)
  "make gmake", // GNU make as BSD calls it
  "mvn mvnw mvnd", // Maven wrapper, daemon
  "gradle gradlew", // Gradle wrapper
];

/** Programs whose name may end in a version: `pip3.12`, `python3.11`. */
const versioned = new Set("python pip pypy php ruby gem perl lua node".split(" "));

/** `git-push` is `git push`, `docker-compose` is `docker compose`: these look for their subcommands as programs. */
const splits = new Set("git docker podman cargo kubectl gh helm".split(" "));

/** The words that a name of a program stands for, in small letters: case is no difference on many file systems. */
export function programWords(given: string): readonly string[] {
  // Most names are only a word.
  if (/^[a-z]+$/.test(given)) return own(shortFor, given)?.split(" ") ?? [canonical.get(given) ?? given];
  const base = given.slice(given.lastIndexOf("/") + 1).toLowerCase();
  // A package may be named with its version, a file with what it is.
  const plain = base.replace(/(?<=.)@.*$/, "").replace(/\.(?:exe|cmd|bat|com|ps1|[cm]?js|py|phar)$/, "");
  const long = own(shortFor, plain.replace(/-cli$/, ""));
  if (long !== undefined) return long.split(" ");
  const dash = plain.indexOf("-");
  if (dash > 0 && splits.has(plain.slice(0, dash))) return [plain.slice(0, dash), plain.slice(dash + 1)];
  const stem = /\d/.test(plain) ? plain.replace(/-?\d[\d.]*$/, "") : plain;
  return [canonical.get(plain) ?? (versioned.has(stem) ? stem : plain)];
}

const canonical: ReadonlyMap<string, string> = new Map(
  sameProgram.flatMap((row) => {
    const [first = "", ...others] = row.split(" ");
    return others.map((other) => [other, first] as const);
  }),
);

/** Words of a program that mean the same, wherever they stand behind it. */
const sameWords: Readonly<Record<string, readonly string[]>> = {
  // npm: lib/utils/cmd-list.js
  npm: [
    "run run-script rum urn",
    "install i in ins inst insta instal isnt isnta isntal isntall add",
    "uninstall un unlink remove rm r",
    "ci clean-install ic install-clean isntall-clean",
    "install-ci-test cit clean-install-test sit",
    "install-test it",
    "exec x",
    "test t tst",
    "update up u upgrade udpate",
    "config c",
    "rebuild rb",
    "init create innit",
    "link ln",
    "owner author",
    "adduser add-user",
    "dist-tag dist-tags",
    "org ogr",
    "dedupe ddp",
    "view info show v",
    "search find s se",
  ],
  // pnpm: the pages of its commands
  pnpm: [
    "run run-script",
    "install i",
    "remove rm uninstall un uni",
    "update up upgrade",
    "test t tst",
    "recursive multi m",
    "link ln",
    "unlink dislink",
    "rebuild rb",
    "list ls",
    "config c",
    "create init",
  ],
  // yarn help; bun --help
  yarn: ["upgrade up", "remove rm", "add install"],
  bun: ["install i", "add a", "remove rm", "test t"],
  // docker and podman: the reference of their command lines
  docker: ["rm remove", "ls list"],
  podman: ["rm remove", "ls list"],
  // kubectl api-resources
  kubectl: [
    "pod pods po",
    "deployment deployments deploy",
    "service services svc",
    "namespace namespaces ns",
    "node nodes no",
    "configmap configmaps cm",
    "secret secrets",
    "statefulset statefulsets sts",
    "daemonset daemonsets ds",
    "job jobs",
    "cronjob cronjobs cj",
    "ingress ingresses ing",
    "persistentvolumeclaim persistentvolumeclaims pvc",
    "persistentvolume persistentvolumes pv",
    "replicaset replicasets rs",
  ],
  // helm --help
  helm: ["uninstall del delete un", "dependency dep dependencies", "list ls"],
  // gh reference; glab help
  gh: ["codespace cs", "extension ext extensions", "list ls", "create new", "ruleset rs", "attestation at"],
  glab: ["mr merge-request", "merge accept", "ci pipe pipeline", "list ls", "create new", "repo project"],
  // cargo --list; rustup help
  cargo: ["build b", "check c", "doc d", "test t", "run r", "remove rm"],
  rustup: ["uninstall remove", "update up upgrade", "toolchain toolchains", "install add"],
  // git: git.c, and the pages that say "synonym for"
  git: ["add stage", "blame annotate", "init init-db", "fsck fsck-objects", "push send-pack http-push"],
  // svn help; hg help -v
  svn: [
    "commit ci",
    "checkout co",
    "copy cp",
    "delete del remove rm",
    "move mv rename ren",
    "update up",
    "switch sw",
    "merge",
    "revert",
  ],
  hg: ["commit ci", "update up checkout co", "remove rm", "rename move mv", "copy cp"],
  // brew commands; dnf(8); zypper(8)
  brew: ["uninstall remove rm", "upgrade", "update up", "list ls", "link ln"],
  dnf: ["remove erase rm", "install in", "upgrade update up"],
  zypper: ["remove rm", "install in", "update up", "dist-upgrade dup"],
  // ip(8): objects and their short names
  ip: ["address addr a", "link l", "route r ro", "neighbour neigh n", "rule ru", "delete del d", "add a"],
  // gem help commands; bundle help
  gem: ["uninstall", "install i"],
  bundle: ["install i", "exec e ex", "update"],
};

/** Programs that are a command of another one. From their own help. */
const shortFor: Readonly<Record<string, string>> = {
  npx: "npm exec",
  pnpx: "pnpm dlx",
  bunx: "bun x",
  uvx: "uv tool run",
};

/** Leading words of one program that say the same in two ways. */
const sameCommands: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  docker: dockerPairs(),
  podman: dockerPairs(),
  // npm: lib/commands/lifecycle-cmd.js
  npm: ["test", "start", "stop", "restart"].map((verb) => [verb, `run ${verb}`] as const),
  // yarn berry keeps publishing apart
  yarn: [["publish", "npm publish"]],
  // terraform destroy -help: "a convenience alias"
  terraform: [["destroy", "apply -destroy"]],
  // git-subtree(1)
  git: [["push", "subtree push"]],
};

/** docker: "management commands", the reference of its command line. */
function dockerPairs(): readonly (readonly [string, string])[] {
  const of = (group: string, verbs: string) =>
    verbs.split(" ").map((verb) => [verb, `${group} ${verb}`] as const);
  return [
    ...of(
      "container",
      "attach commit cp create diff exec export kill logs pause port rename restart rm run start stats stop top unpause update wait",
    ),
    ...of("image", "build history import load pull push save tag"),
    ["ps", "container ls"],
    ["rmi", "image rm"],
    ["images", "image ls"],
    ["build", "buildx build"],
    ["build", "builder build"],
    ["inspect", "container inspect"],
    ["info", "system info"],
    ["events", "system events"],
    ["builder prune", "buildx prune"],
  ];
}

/** Words that may stand before a command and leave it what it is; `*` is any number of words. */
const leading: Readonly<Record<string, readonly string[]>> = {
  yarn: ["run", "workspace *", "workspaces *"],
  pnpm: ["run", "recursive"],
  bun: ["run"],
  gcloud: ["alpha", "beta", "preview"],
};

/** The same command in other words of the same program, without the first; each is a list of words. */
export function otherWords(program: string, words: readonly string[]): (readonly string[])[] {
  const once = saidOtherwise(program, words);
  const twice = once.flatMap((each) => saidOtherwise(program, each));
  return [...new Map([words, ...once, ...twice].map((each) => [each.join(" "), each])).values()];
}

function saidOtherwise(program: string, words: readonly string[]): (readonly string[])[] {
  const said = (from: readonly string[], to: readonly string[]): (readonly string[])[] =>
    from.every((word, at) => isAlike(program, word, words[at])) ? [[...to, ...words.slice(from.length)]] : [];
  const pairs = (own(sameCommands, program) ?? []).map((pair) => pair.map((each) => each.split(" ")));
  const leads = (own(leading, program) ?? []).map((lead) => lead.split(" "));
  return [
    ...pairs.flatMap(([left = [], right = []]) => [...said(left, right), ...said(right, left)]),
    ...leads.flatMap((lead) => [
      ...(words.length > 0 ? [[...lead, ...words]] : []),
      ...(words.length > lead.length ? said(lead, []) : []),
    ]),
  ];
}

const isAlike = (program: string, word: string, given: string | undefined): boolean =>
  given !== undefined &&
  (word === given || (own(sameWords, program) ?? []).some((row) => isIn(row, word) && isIn(row, given)));

const isIn = (row: string, word: string): boolean => ` ${row} `.includes(` ${word} `);

/** Every name of a word of a program, itself first. */
export function alike(program: string, word: string): readonly string[] {
  const rows = (own(sameWords, program) ?? []).filter((row) => isIn(row, word));
  return rows.length === 0 ? [word] : [...new Set([word, ...rows.flatMap((row) => row.split(" "))])];
}

/** Programs that take the start of a word for the word: npm's abbrev, getopt-like tables of hg, ip, gem, Thor, Symfony. */
const abbreviates = new Set(
  "npm hg ip tc gem bundle composer artisan console gradle nmcli fossil svnadmin".split(" "),
);

export const mayBeCut = (program: string, given: string, word: string): boolean =>
  abbreviates.has(program) &&
  given !== "" &&
  given.length < word.length &&
  word.startsWith(given) &&
  // What has a meaning of its own is not the start of another word.
  !(own(sameWords, program) ?? []).some((row) => isIn(row, given));

/** Programs that do everything that their words name: one word may stand behind any other. */
export const takesGoals = (program: string): boolean => goals.has(program);

const goals = new Set(
  "make mvn gradle ant rake just task ninja bazel invoke fab nox tox grunt gulp ansible-playbook".split(" "),
);

/** Programs whose people give commands names of their own: a word that is none of these may stand for any. */
const ownVerbs: Readonly<Record<string, ReadonlySet<string>>> = {
  // git help -a, and what is often installed beside it.
  git: new Set(
    "add am annotate apply archimport archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config count-objects credential credential-cache credential-store cvsexportcommit cvsimport cvsserver daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects fsmonitor--daemon gc get-tar-commit-id grep gui hash-object help hook http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-one-file merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack reflog refs remote repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack sh-i18n sh-setup shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule subtree svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version web--browse whatchanged worktree write-tree flow crypt secret annex filter-repo absorb credential-manager".split(
      " ",
    ),
  ),
  // gh reference, gh.cli.github.com/manual; its alias `co` is its own.
  gh: new Set(
    "agent-task alias api at attestation auth browse cache co codespace completion config cs ext extension extensions gist gpg-key help issue label licenses models org pr preview project release repo rs ruleset run search secret ssh-key status variable version workflow copilot".split(
      " ",
    ),
  ),
};

/** Whether a word in the place of a subcommand may be a name that a person gave to another one. */
export function mayBeOwnName(program: string, word: string): boolean {
  const verbs = own(ownVerbs, program);
  return verbs !== undefined && !verbs.has(word);
}
