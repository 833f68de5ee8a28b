/**
 * Options that stand before or between the words of a subcommand. For those that are known it is certain whether they
 * take the next word; of all others both is tried. From the manual or the help of each program.
 */
import { own } from "../../kernel/json.ts";

/** Options that take the next word unless a value is attached, by program. */
const valued: Readonly<Record<string, string>> = {
  git: "-C -c --git-dir --work-tree --namespace --config-env --attr-source",
  npm: "--prefix -C --registry --userconfig --cache --loglevel --workspace -w --tag --otp --access",
  pnpm: "-C --dir --filter -F --loglevel --reporter --store-dir",
  yarn: "--cwd --registry --modules-folder --cache-folder",
  bun: "--cwd --config -c --filter -F",
  docker:
    "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --project-directory --profile --env-file",
  podman: "-c --connection --url --root --log-level",
  kubectl:
    "-n --namespace --context --cluster --kubeconfig -s --server --token --user --as --as-group --request-timeout --cache-dir --certificate-authority --client-certificate --client-key",
  helm: "-n --namespace --kube-context --kubeconfig --burst-limit --registry-config --repository-cache --repository-config",
  gh: "-R --repo --hostname",
  glab: "-R --repo",
  cargo: "--manifest-path --config -Z -C --color --target-dir",
  go: "-C",
  pip: "--python --proxy --log --cache-dir --timeout --retries --trusted-host --cert",
  aws: "--profile --region --output --endpoint-url --query --cli-read-timeout --cli-connect-timeout --ca-bundle --color",
  gcloud:
    "--project --account --configuration --format --verbosity --billing-project --impersonate-service-account",
  az: "--subscription --output -o --query",
  systemctl: "-H --host -M --machine -t --type -p --property -n --lines -o --output -s --signal",
  apt: "-o -c -t",
  composer: "-d --working-dir",
  poetry: "-C --directory -P --project",
  uv: "--directory --project --config-file --cache-dir",
  dotnet: "--additionalprobingpath --additional-deps --depsfile --runtimeconfig --fx-version",
};

/** Options that never take the next word, where a rule about another word would else be found in what is ordinary. */
const bare: Readonly<Record<string, string>> = {
  git: "-p -P --paginate --no-pager --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --bare --html-path --man-path --info-path --version --help -v -h",
  npm: "-s --silent -d -dd -ddd -q --quiet -g --global --json --yes -y --if-present --ws --workspaces --ignore-scripts --dry-run -D -E --save-dev --save-exact --production --include-workspace-root --no-audit --no-fund --foreground-scripts",
  pnpm: "-r --recursive -s --silent --json -D --save-dev -w --workspace-root --if-present --parallel --no-bail --ignore-scripts",
  yarn: "-s --silent --json --offline --frozen-lockfile --verbose",
  bun: "--silent --bun -b --watch --hot --smol",
  docker: "-D --debug --tls --tlsverify --dry-run --verbose --compatibility --all-resources",
  kubectl: "--insecure-skip-tls-verify --match-server-version --warnings-as-errors -A --all-namespaces",
  cargo: "-v -vv -q --verbose --quiet --locked --offline --frozen --release --all --workspace --all-features",
  pip: "-v -vv -q --verbose --quiet --isolated --require-virtualenv --no-input --no-cache-dir --disable-pip-version-check",
  aws: "--no-cli-pager --no-paginate --no-sign-request --no-verify-ssl --debug --no-cli-auto-prompt",
  gcloud: "-q --quiet --no-user-output-enabled --log-http",
  systemctl:
    "--user --system --no-pager --quiet -q --now --all -a --failed --no-legend --no-ask-password --force -f",
  apt: "-y --yes --assume-yes -q -qq --quiet -s --simulate --no-install-recommends",
  uv: "-q -v --quiet --verbose --offline --no-cache --no-config --no-progress",
  poetry: "-q -v -vv --quiet --verbose --no-interaction -n --no-ansi --ansi --no-plugins --no-cache",
};

/** What an option does with the word behind it. */
export function takesNext(program: string, option: string): "yes" | "no" | "perhaps" {
  if (option === "--" || option.includes("=") || option.startsWith("+")) return "no";
  if (isListed(valued, program, option)) return "yes";
  return isListed(bare, program, option) ? "no" : "perhaps";
}

const isListed = (table: Readonly<Record<string, string>>, program: string, option: string): boolean =>
  ` ${own(table, program) ?? ""} `.includes(` ${option} `);
