/** Options between a program and its subcommand: a rule that names the subcommand means it with them too. */
import type { Argument } from "../meaning/arguments.ts";

/** Options that take the next word, by program. */
const valued: Readonly<Record<string, string>> = {
  git: "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --exec-path",
  npm: "--prefix -C --registry --userconfig --cache --loglevel --workspace -w",
  pnpm: "-C --dir --filter -F --loglevel --reporter",
  yarn: "--cwd --registry --modules-folder",
  docker: "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey",
  podman: "-c --connection --url --root --log-level",
  kubectl: "-n --namespace --context --cluster --kubeconfig -s --server --token --user --as",
  helm: "-n --namespace --kube-context --kubeconfig",
  gh: "-R --repo --hostname",
  cargo: "--manifest-path --config -Z -C --color",
  go: "-C",
  pip: "--python --proxy --log --cache-dir",
  pip3: "--python --proxy --log --cache-dir",
  aws: "--profile --region --output --endpoint-url",
  gcloud: "--project --account --configuration --format",
  terraform: "-chdir",
  systemctl: "-H --host -M --machine -t --type -p --property",
  make: "-C --directory -f --file -j -I -o -W",
  apt: "-o -c -t",
  "apt-get": "-o -c -t",
  brew: "",
  bundle: "",
  composer: "-d --working-dir",
  poetry: "-C --directory -P --project",
  uv: "--directory --project --config-file",
};

/** The words behind a program as they are, and without what stands before the subcommand. */
export function plainSpellings(program: string, rest: readonly Argument[]): (readonly Argument[])[] {
  const spellings: (readonly Argument[])[] = [rest];
  if (!rest[0]?.text.startsWith("-") && !rest[0]?.text.startsWith("+")) return spellings;
  const isKnown = Object.hasOwn(valued, program);
  spellings.push(withoutOptions(rest, new Set((valued[program] ?? "").split(" "))));
  // Of a program that is not known, an option may take the next word or not.
  if (!isKnown) spellings.push(withoutOptions(rest, "all"));
  return spellings;
}

function withoutOptions(
  rest: readonly Argument[],
  takesNext: ReadonlySet<string> | "all",
): readonly Argument[] {
  let at = 0;
  for (; at < rest.length; at++) {
    const text = rest[at]?.text ?? "";
    if (!text.startsWith("-") && !text.startsWith("+")) break;
    if (takesNext === "all" ? !text.includes("=") : takesNext.has(text)) at += 1;
  }
  return rest.slice(at);
}
