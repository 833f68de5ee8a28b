// Makes spellings of a denied command from a seed: options at every level, other names, wrappers, quotes, redirections
// and the texts around. What a program accepts is written down here once more, by hand: not taken from Keel's tables.
import type { Chance } from "./generate.ts";

export type Denied = {
  /** The words of the rule. */
  readonly rule: string;
  /** The command as other people write it; the rule itself is always one. */
  readonly forms?: readonly string[];
};

type Program = {
  readonly denied: readonly Denied[];
  /** Options that the program has; `:` at the end for one that takes a value. */
  readonly options: string;
};

const is = (rule: string, ...forms: readonly string[]): Denied => ({ rule, forms });

/** Thirty programs and what is often denied of them. */
export const programs: Readonly<Record<string, Program>> = {
  git: {
    denied: [
      is(
        "git push",
        "git-push",
        "/usr/lib/git-core/git-push",
        "git -c alias.p=push p",
        "git send-pack",
        "git PUSH",
      ),
      is("git reset", "git -c alias.undo=reset undo", "git-reset"),
      is("git add", "git stage"),
      is("git remote add"),
    ],
    options: "-C: -c: --git-dir: --work-tree: --no-pager --namespace: --bare --literal-pathspecs -p",
  },
  npm: {
    denied: [
      is("npm publish", "npm publis", "npm pub", "node /usr/lib/node_modules/npm/bin/npm-cli.js publish"),
      is(
        "npm run deploy",
        "npm run-script deploy",
        "npm rum deploy",
        "npm urn deploy",
        "npm runScript deploy",
      ),
      is("npm install", "npm i", "npm add", "npm isntall", "npm in", "npm inst"),
      is("npm unpublish", "npm unpub"),
      is("npm uninstall", "npm rm", "npm un", "npm remove", "npm r", "npm unlink"),
    ],
    options: "--tag: --prefix: -s --silent --otp: --userconfig: --workspaces --registry: -w: --access: --yes",
  },
  pnpm: {
    denied: [
      is("pnpm publish", "pnpm -r publish", "pnpm recursive publish"),
      is("pnpm run deploy", "pnpm run-script deploy", "pnpm deploy"),
      is("pnpm remove", "pnpm rm", "pnpm un", "pnpm uninstall"),
    ],
    options: "--store-dir: -C: --filter: -r --silent --loglevel: -w",
  },
  yarn: {
    denied: [
      is("yarn publish", "yarn npm publish", "yarnpkg publish"),
      is("yarn run deploy", "yarn deploy", "yarn workspace web deploy"),
    ],
    options: "--cache-folder: --cwd: --silent --registry: --json",
  },
  bun: {
    denied: [is("bun publish"), is("bun run deploy", "bun deploy"), is("bun remove", "bun rm")],
    options: "--cwd: --config: --silent -b",
  },
  docker: {
    denied: [
      is("docker compose down", "docker-compose down"),
      is("docker rm", "docker container rm", "docker container remove"),
      is("docker rmi", "docker image rm", "docker image remove"),
      is("docker system prune"),
      is("docker push", "docker image push"),
    ],
    options: "-f: --file: -H: --context: --debug --log-level: -p: --project-name: --tls --ansi:",
  },
  podman: {
    denied: [is("podman rm", "podman container rm"), is("podman system reset")],
    options: "--root: --log-level: --connection: --remote --runtime:",
  },
  "docker-compose": {
    denied: [is("docker-compose down", "docker compose down"), is("docker-compose rm")],
    options: "-f: --file: -p: --profile: --verbose --env-file:",
  },
  kubectl: {
    denied: [
      is("kubectl delete"),
      is("kubectl delete pod", "kubectl delete pods", "kubectl delete po", "kubectl delete pod/x"),
      is("kubectl drain"),
    ],
    options: "--request-timeout: -n: --context: -v: --as: --warnings-as-errors -s:",
  },
  helm: {
    denied: [is("helm uninstall", "helm delete", "helm del", "helm un"), is("helm rollback")],
    options: "--burst-limit: -n: --kube-context: --debug --qps:",
  },
  aws: {
    denied: [is("aws s3 rm"), is("aws ec2 terminate-instances"), is("aws iam delete-user")],
    options: "--query: --profile: --region: --debug --output: --no-cli-pager --cli-read-timeout:",
  },
  gcloud: {
    denied: [
      is(
        "gcloud compute instances delete",
        "gcloud beta compute instances delete",
        "gcloud alpha compute instances delete",
      ),
      is("gcloud projects delete"),
    ],
    options: "--verbosity: --project: --quiet -q --format: --impersonate-service-account:",
  },
  az: {
    denied: [is("az group delete"), is("az vm delete")],
    options: "--subscription: --output: -o: --verbose --query: --debug",
  },
  gh: {
    denied: [is("gh pr merge"), is("gh repo delete"), is("gh release create", "gh release new")],
    options: "-R: --repo: --hostname: --json:",
  },
  glab: {
    denied: [is("glab mr merge", "glab mr accept", "glab merge-request merge"), is("glab repo delete")],
    options: "-R: --repo: --group:",
  },
  cargo: {
    denied: [
      is("cargo publish", "cargo +nightly publish", "cargo-publish"),
      is("cargo yank"),
      is("cargo run", "cargo r"),
    ],
    options: "--target-dir: --manifest-path: -q --color: -Z: --config: --locked",
  },
  rustup: {
    denied: [is("rustup toolchain uninstall", "rustup toolchain remove"), is("rustup self uninstall")],
    options: "-v -q --quiet --verbose",
  },
  go: { denied: [is("go install"), is("go clean")], options: "-C: -x -v" },
  pip: {
    denied: [
      is(
        "pip install",
        "pip3 install",
        "pip3.12 install",
        "python -m pip install",
        "python3 -m pip install",
        "python3.11 -Im pip install",
        "python -mpip install",
        "uv pip install",
      ),
      is("pip uninstall"),
    ],
    options: "--timeout: --proxy: -q --cache-dir: --log: --isolated --retries:",
  },
  uv: {
    denied: [is("uv publish"), is("uv pip install"), is("uv tool run", "uvx")],
    options: "--directory: --cache-dir: --offline -q --color: --index:",
  },
  poetry: {
    denied: [is("poetry publish", "python -m poetry publish"), is("poetry self update")],
    options: "-C: --project: -n -q --no-ansi",
  },
  terraform: {
    denied: [
      is("terraform destroy", "terraform apply -destroy", "terraform apply -auto-approve -destroy"),
      is("terraform state rm"),
    ],
    options: "-chdir=x -no-color -lock-timeout:",
  },
  "ansible-playbook": {
    denied: [
      is("ansible-playbook site.yml", "ansible-playbook other.yml site.yml", "ansible-playbook ./site.yml"),
    ],
    options: "-i: --limit: -v -e: --tags: --check",
  },
  systemctl: {
    denied: [
      is("systemctl stop"),
      is("systemctl --user stop", "systemctl stop --user"),
      is("systemctl disable"),
    ],
    options: "-n: --user -H: --no-pager -t: --quiet -o:",
  },
  apt: {
    denied: [is("apt install", "apt-get install"), is("apt remove", "apt-get remove")],
    options: "-o: -y -q -t: --no-install-recommends -c:",
  },
  brew: {
    denied: [is("brew uninstall", "brew rm", "brew remove"), is("brew install")],
    options: "-v --verbose --debug -q",
  },
  make: {
    denied: [is("make deploy", "make build deploy", "gmake deploy", "make A=1 deploy", "make -j deploy")],
    options: "-C: -f: -j4 -k -s --directory: -B",
  },
  mvn: {
    denied: [is("mvn deploy", "mvn clean deploy", "./mvnw deploy", "mvn deploy:deploy")],
    options: "-f: -P: -q -DskipTests=true -pl: -o",
  },
  gradle: {
    denied: [is("gradle publish", "./gradlew publish", "gradle build publish", "gradle :app:publish")],
    options: "-p: --project-dir: -q -Pa=b --offline --max-workers:",
  },
  dotnet: { denied: [is("dotnet nuget push"), is("dotnet publish")], options: "-d --verbosity: --depsfile:" },
  ssh: { denied: [is("ssh prod", "ssh me@prod")], options: "-p: -i: -v -o: -4 -l: -J:" },
};

export function generateSpelling(chance: Chance): { rule: string; command: string } {
  const { denied, options } = chance.pick(Object.values(programs));
  const { rule, forms = [] } = chance.pick(denied);
  const form = chance.once(2) ? rule : chance.pick([rule, ...forms]);
  let text = joined(chance, withOptions(chance, form.split(" "), options.split(" ")));
  const layers = chance.pick([0, 0, 0, 1, 1, 1, 2, 2, 3]);
  for (let layer = 0; layer < layers; layer++) text = chance.pick(around)(text, chance);
  return { rule: ruleOf(chance, rule), command: text };
}

const ruleOf = (chance: Chance, words: string): string =>
  chance.once(4) ? `Bash(${words} *)` : `Bash(${words}:*)`;

/** Options between any two words, and behind them. A form that has options of its own keeps its order. */
function withOptions(chance: Chance, words: readonly string[], known: readonly string[]): string[] {
  const most = chance.pick([0, 1, 1, 2, 3]);
  const isOwn = words.some((word) => word.startsWith("-"));
  return words
    .flatMap((word, at) => {
      const isBefore = at === 0 || (isOwn && at < words.length - 1);
      if (isBefore) return [word];
      const before = isOwn ? [] : Array.from({ length: chance.below(most + 1) }, () => option(chance, known));
      return [...before.flat(), word];
    })
    .concat(chance.once(3) ? ["x"] : [], chance.once(4) ? option(chance, known) : []);
}

function option(chance: Chance, known: readonly string[]): string[] {
  const given = chance.once(4)
    ? `${chance.pick(["--zq", "--level", "-Q", "--x-y"])}${chance.pick([":", ""])}`
    : chance.pick(known);
  const name = given.replace(/:$/, "");
  if (!given.endsWith(":")) return [name];
  const value = chance.pick(["x.yml", "9s", "beta", "a=b", "/srv/x", "x", "debug", "-1"]);
  return name.startsWith("--") && chance.once(3) ? [`${name}=${value}`] : [name, value];
}

/** Words put together: quoted somehow, with blanks, line ends and redirections in between. */
function joined(chance: Chance, words: readonly string[]): string {
  const isBent = chance.once(2);
  const spelled = words.map((word, at) =>
    isBent && chance.once(at < 3 ? 2 : 6) ? bend(chance, word, at) : word,
  );
  return spelled.reduce((text, word) => {
    const gap = chance.once(8)
      ? chance.pick(["  ", "\t", " \\\n", " 2>/dev/null ", " </dev/null ", " 2>&1 "])
      : " ";
    return `${text}${gap}${word}`;
  });
}

/** The same word in another way. A program may also be named by its folder, or in capitals. */
function bend(chance: Chance, word: string, at: number): string {
  // How an interpreter is told its module is its own matter.
  if (!/^[\w./-]+$/.test(word) || /^-\w*m/.test(word)) return word;
  const middle = Math.min(word.length, 1 + chance.below(word.length));
  const [left, right] = [word.slice(0, middle), word.slice(middle)];
  const ways = [
    `${left}''${right}`,
    `${left}""${right}`,
    `"${word}"`,
    `'${word}'`,
    `$'${word}'`,
    `"${left}"'${right}'`,
    `${left}${right && /\w/.test(right[0] ?? "") ? "\\" : ""}${right}`,
    `$(echo ${word})`,
    `\${unset_x:-${word}}`,
    `\`echo ${word}\``,
    `$'\\x${(word.codePointAt(0) ?? 0).toString(16)}'${word.slice(1)}`,
  ];
  const names = word.includes("/")
    ? []
    : [`/usr/bin/${word}`, `./${word}`, `../bin/${word}`, word.toUpperCase(), `/opt/x/${word}`];
  return chance.pick(at === 0 ? [...ways, ...names] : ways);
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const double = (text: string): string => `"${text.replace(/["\\$`]/g, "\\$&")}"`;
/** What another language makes of a text that the shell would have to put together is not in the text. */
const isPlain = (text: string): boolean => !/[$`\\']/.test(text);
const before = (words: string) => (text: string) => `${words} ${text}`;

/** What stands around a command and runs it. */
const around: readonly ((text: string, chance: Chance) => string)[] = [
  ...[
    "sudo",
    "sudo -u root",
    "sudo -u root -E",
    "env A=1",
    "env -u B -i",
    "nice -n 5",
    "timeout 5",
    "timeout -k 3 5s",
    "nohup",
    "command",
    "exec",
    "time",
    "setsid",
    "stdbuf -oL",
    "ionice -c 3",
    "xargs",
    "xargs -n 1",
    "poetry run",
    "uv run",
    "bundle exec",
    "npx -y",
    "npm exec --",
    "pnpm dlx",
    "yarn dlx",
    "mise exec --",
    "nix shell -c",
    "some-runner",
    "./run.sh --fast",
    "direnv exec .",
    "doas",
    "strace -f",
    "docker run --rm image",
    "ssh host",
    "kubectl exec pod --",
  ].map(before),
  (text) => `{ A=1 ${text}; }`,
  (text) => `sh -c ${quoted(text)}`,
  (text) => `bash -lc ${quoted(text)}`,
  (text) => `bash -c ${double(text)}`,
  (text) => `eval ${quoted(text)}`,
  (text) => `env -S ${quoted(text)}`,
  (text) => `bash <<'E'\n${text}\nE`,
  (text) => `bash <<< ${quoted(text)}`,
  (text) => `echo ${quoted(text)} | sh`,
  (text) => `trap ${quoted(text)} EXIT`,
  (text) => `watch ${quoted(text)}`,
  (text) => `parallel ::: ${quoted(text)}`,
  (text) => `su root -c ${quoted(text)}`,
  (text) => `script -c ${quoted(text)} /dev/null`,
  (text) => (isPlain(text) ? `python3 -c ${quoted(`import os; os.system(${JSON.stringify(text)})`)}` : text),
  (text) =>
    isPlain(text) ? `node -e ${quoted(`require("child_process").execSync(${JSON.stringify(text)})`)}` : text,
  (text) => `x=${quoted(text)}; $x`,
  (text) => `x=${quoted(text)}; eval "$x"`,
  (text) => `$( ${text} )`,
  (text) => `echo "$( ${text} )"`,
  (text) => `cat <( ${text} )`,
  (text) => `( ${text} )`,
  (text) => `{ ${text}; }`,
  (text) => `if true; then ${text}; fi`,
  (text) => `for i in 1 2; do ${text}; done`,
  (text) => `while ${text}; do break; done`,
  (text) => `case a in (a) ${text};; esac`,
  (text) => `f() { ${text}; }; f`,
  (text) => `ls && ${text}`,
  (text) => `ls; ${text} && ls`,
  (text) => `cat a.txt | ${text}`,
  (text) => `${text} | cat`,
  (text) => `${text} &`,
  (text) => `${text} > out.txt 2>&1`,
  (text) => `git status\n${text}`,
  (text) => `find . -maxdepth 0 -exec sh -c ${quoted(text)} \\;`,
  (text) => `git -c alias.x=${quoted(`!${text}`)} x`,
];
