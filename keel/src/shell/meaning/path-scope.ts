/** Where the paths of a command lead, judged by their text; and which names hold secrets. */
import { isInside } from "../../kernel/path.ts";
import type { ProgramSearch } from "../../ports/shell.ts";
import type { Argument } from "./arguments.ts";
import type { Directories } from "./walk.ts";

/** What a judgement is made against. */
export type ShellScope = {
  readonly home: string;
  /** The directories that may be read and written by policy. */
  readonly roots: readonly string[];
  /** Whether the settings of the repository may act: git runs programs that they name. */
  readonly isTrusted: boolean;
  /** Where commands find programs, and what those load; left out where commands are judged by their text alone. */
  readonly search?: ProgramSearch | undefined;
};

export type PathScope =
  /** Below a root, by its text: what it really is must be looked at. */
  | { readonly kind: "inside"; readonly paths: readonly string[] }
  | { readonly kind: "outside"; readonly paths: readonly string[] }
  /** `/dev/null`, a descriptor, a pipe: nothing is kept and nothing is learnt. */
  | { readonly kind: "harmless" }
  | { readonly kind: "unknown" };

export function pathScope(
  argument: Argument,
  directories: Directories,
  { roots }: Pick<ShellScope, "roots">,
): PathScope {
  if (argument.isProcess) return { kind: "harmless" };
  const { kind, text, prefix } = argument;
  if (kind === "unknown") {
    // What follows could lead anywhere, but not back from a directory that is outside by itself.
    const stem = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    return stem.startsWith("/") && !isInside(stem, roots) && stem !== "/"
      ? { kind: "outside", paths: [stem] }
      : { kind: "unknown" };
  }
  if (text === "" || (kind === "glob" && globMayClimb(text))) return { kind: "unknown" };
  if (harmless.test(text)) return { kind: "harmless" };
  // The name of a share on another machine, where somebody takes it for one.
  if (text.startsWith("\\\\")) return { kind: "outside", paths: [`/${text}`] };
  const paths = text.startsWith("/") ? [text] : directories?.map((directory) => `${directory}/${text}`);
  if (!paths) return { kind: "unknown" };
  return { kind: paths.every((path) => isInside(path, roots)) ? "inside" : "outside", paths };
}

const harmless = /^\/dev\/(?:null|stdin|stdout|stderr|fd\/\d+)$/;

/** A pattern can match `..`, or pass a link and go up behind it. */
function globMayClimb(text: string): boolean {
  let sawGlob = false;
  for (const name of text.split("/")) {
    if (/[*?[]/.test(name)) {
      if (name.startsWith(".") || name.startsWith("[")) return true;
      sawGlob = true;
    } else if (sawGlob && name === "..") return true;
  }
  return false;
}

/** Names that people keep keys and passwords under. What shows the contents of such a file is asked about. */
export function isSecret(path: string): boolean {
  const names = path.toLowerCase().split(/[/:]/);
  const file = names.at(-1) ?? "";
  if (names.slice(0, -1).some((name) => secretDirectory.test(name))) return true;
  return secretNames.some((secret) => secret.test(file)) && !exampleName.test(file);
}

const exampleName = /\.(?:example|sample|template|dist|tmpl|defaults?)$/;
const secretDirectory =
  /^(?:\.(?:ssh|aws|gnupg|azure|kube|docker|secrets?|credentials)|secrets?|credentials|private[_-]?keys?)$/;
/** Endings of what holds data; the same name with that of a program or a page is code or prose about it. */
const dataEnding =
  "(?:\\.(?:json|ya?ml|toml|ini|txt|env|cfg|conf|properties|xml|enc|csv|db|sqlite\\d?|bak|old|local|prod|production|dev|development|staging|test)){0,3}$";
const secretNames: readonly RegExp[] = [
  /^\.env(?:rc|\..*)?$/,
  /\.env$/,
  /^\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|pgpass|my\.cnf|htpasswd|vault-token|git-credentials|boto|s3cfg|credentials|secrets?)$/,
  /^_netrc$/,
  /^\.?[a-z]*_history$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)/,
  new RegExp(
    `^(?:credentials?|secrets?|passwords?|passwd|shadow|tokens?|api[_-]?keys?|private[_-]?keys?)${dataEnding}`,
  ),
  new RegExp(`[._-](?:credentials?|secrets?|passwords?|tokens?|api[_-]?keys?)${dataEnding}`),
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg|ovpn|token|secret)$/,
  /^(?:service[_-]?account|application_default_credentials).*\.json$/,
  /^(?:auth\.json|terraform\.tfvars)$/,
  /\.tfstate(?:\.backup)?$/,
  /^kubeconfig/,
];

/** Variables whose values anyone may see. */
export const isOpenVariable = (name: string): boolean =>
  /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|PATH|LANG|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|CI|EDITOR|PAGER|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|UID|EUID|PPID|SHLVL|RANDOM|SECONDS|LINENO|BASH_VERSION|BASHPID|TMPDIR|COLUMNS|LINES|NODE_ENV|[0-9@*#?$!-])$/.test(
    name,
  );
