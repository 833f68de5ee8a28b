/**
 * What of a project's settings counts. Nothing of a project acts before trust: until then only its deny and ask rules
 * count, since they can only make things stricter. Trust is for what was shown; what came later waits until it has been
 * shown too. Some things no project may say, trusted or not.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../kernel/json.ts";
import { type LeftOutEntry, matchesPath, type SettingEntry } from "./entries.ts";
import type { ProgramMarks } from "./program-marks.ts";
import { personOnly } from "./settings-schema.ts";

/** Trust as it stands at a start. */
export type Gate = {
  /** Sources that somebody named for this session: naming is trusting, for once. */
  readonly named: readonly string[];
  /** The marks of what was shown when the project was trusted; undefined when it never was. */
  readonly shown: ReadonlySet<string> | undefined;
  /** What entries name as programs, as it is now. */
  readonly programs?: ProgramMarks | undefined;
};

const notTrusted: LeftOutEntry = { why: "the project is not trusted", isForbidden: false };
const notShown: LeftOutEntry = { why: "it is new since the project was trusted", isForbidden: false };

const changed = (file: string): LeftOutEntry => ({
  why: `${file}, which it runs, has changed since the project was trusted`,
  isForbidden: false,
});

/** Why an entry does not count, or undefined when it does. */
export function whyNot(entry: SettingEntry, gate: Gate): LeftOutEntry | undefined {
  if (!isOfProject(entry)) return undefined;
  const forbidden = whyForbidden(entry);
  if (forbidden !== undefined) return { why: forbidden, isForbidden: true };
  if (matchesPath(stricter, entry.path) || isOfSandbox(entry) || gate.named.includes(entry.source))
    return undefined;
  if (gate.shown === undefined) return notTrusted;
  if (!isOffer(entry)) return undefined;
  if (!gate.shown.has(markOf(entry))) return notShown;
  const { shown, programs } = gate;
  const program = programs?.get(entry)?.find(({ mark }) => !shown.has(mark));
  return program && changed(program.file);
}

/** What trusting would enable: what waits for trust and may be had by it. */
export function offersIn(entries: readonly SettingEntry[]): SettingEntry[] {
  return entries.filter((entry) => isOfProject(entry) && isOffer(entry) && whyForbidden(entry) === undefined);
}

/** Tells what was shown from what was not. A forger cannot make two things with one mark. */
export function markOf({ path, value }: Pick<SettingEntry, "path" | "value">): string {
  return createHash("sha256")
    .update(canonicalJson([path, value]))
    .digest("hex")
    .slice(0, markLength);
}

const markLength = 32;

/** Count from every source, trusted or not. */
const stricter = ["permissions.deny", "permissions.ask", "permissions.disableBypassPermissionsMode"];

/** What acts, or lets something act: shown before it counts. The rest of a trusted project's settings is harmless. */
const offers = [
  "permissions.allow",
  "permissions.defaultMode",
  "permissions.additionalDirectories",
  "env.*",
  "hooks.*",
  "mcpServers.*",
  "diagnostics",
];

const isOfProject = ({ source }: SettingEntry): boolean => source === "project" || source === "local";
const isOffer = ({ path }: SettingEntry): boolean => matchesPath(offers, path);

/** Why no project may say this. */
export function whyForbidden({ path, value }: Pick<SettingEntry, "path" | "value">): string | undefined {
  const [owner] = Object.keys(personOnly).filter((name) => covers(name.split("."), path));
  if (owner !== undefined) return `a project may not set ${owner}: ${personOnly[owner]}`;
  if (path.join(".") === "permissions.defaultMode" && value === "bypassPermissions")
    return "a project may not bypass permissions";
  const [group, name = ""] = path;
  if (group === "sandbox" && !isStricterSandbox({ path, value }))
    return `a project may not set ${path.join(".")} so: it says what commands reach`;
  const withheld = group === "env" ? whyWithheld(name) : undefined;
  return withheld === undefined ? undefined : `a project may not set ${name}: ${withheld}`;
}

const isOfSandbox = ({ path: [group] }: Pick<SettingEntry, "path">): boolean => group === "sandbox";

/** Whether it can only make the sandbox tighter: then it counts from every project. */
function isStricterSandbox({ path, value }: Pick<SettingEntry, "path" | "value">): boolean {
  const wanted = sandboxTighter[path.slice(1).join(".")];
  return wanted === "any" || (wanted !== undefined && wanted === value);
}

const sandboxTighter: Readonly<Record<string, boolean | "any">> = {
  enabled: true,
  failIfUnavailable: true,
  requireFixedBubblewrap: true,
  autoAllowBashIfSandboxed: false,
  allowUnsandboxedCommands: false,
  hooks: true,
  mcpServers: true,
  "filesystem.denyRead": "any",
  "filesystem.denyWrite": "any",
  "network.deniedDomains": "any",
  "network.allowAllUnixSockets": false,
  allowNestedUserNamespaces: false,
};

const covers = (name: readonly string[], path: readonly string[]): boolean =>
  name.every((part, index) => part === path[index]);

/** Why a project may not set it, or undefined for an ordinary variable. In any case of its letters. */
export function whyWithheld(name: string): string | undefined {
  const upper = name.toUpperCase();
  return withheld.find(({ names }) => names.split(/\s+/).some((pattern) => matches(pattern, upper)))?.because;
}

/**
 * Names of variables that no project may set, trusted or not: those that say where keys and requests go, and those that
 * change what the name of a program means. A permission is given for what a command says; it must be what runs.
 */
const withheld: readonly { readonly names: string; readonly because: string }[] = [
  { names: "KEEL_* CLAUDE_*", because: "it changes Keel itself" },
  {
    names: "ANTHROPIC_* OPENAI_* BRAVE_* VOYAGE_* LINEAR_*",
    because: "it says where requests go and with which key",
  },
  { names: "*_PROXY NO_PROXY", because: "it leads requests through somebody else" },
  {
    names: "NODE_EXTRA_CA_CERTS NODE_TLS_* SSL_CERT_* SSLKEYLOGFILE *_CA_BUNDLE CURL_*",
    because: "it says whose certificates are believed",
  },
  {
    names: `NODE_OPTIONS NODE_PATH NODE_COMPILE_CACHE LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH PYTHON* PERL* RUBY* GEM_* BUNDLE_* LUA_*
      PHPRC PHP_INI_* DOTNET_STARTUP_HOOKS CLASSPATH`,
    because: "it puts code into every program",
  },
  {
    names: "GIT_* SSH_* PAGER *_PAGER LESS* MAN* *_RSH FZF_* EDITOR *_EDITOR VISUAL BROWSER",
    because: "it names a program that others start",
  },
  {
    names: `PATH HOME SHELL BASH_* ENV SHELLOPTS BASHOPTS IFS PS4 POSIXLY_CORRECT CDPATH GLOBIGNORE PROMPT_COMMAND
      TMPDIR XDG_CONFIG_* ZDOTDIR TERMINFO* RIPGREP_CONFIG_PATH GREP_OPTIONS TAR_OPTIONS AWKPATH AWKLIBPATH MAGIC
      RSYNC_* KUBECONFIG DOCKER_* GOFLAGS GOENV YARN_* PNPM_* DENO_* TS_NODE_* NPM_CONFIG_* PIP_* CARGO_* RUSTC_*
      MAKEFLAGS *JAVA_OPTIONS JAVA_TOOL_OPTIONS GRADLE_OPTS MAVEN_OPTS`,
    because: "it changes what a command means",
  },
];

function matches(pattern: string, name: string): boolean {
  if (pattern.startsWith("*")) return name.endsWith(pattern.slice(1));
  if (pattern.endsWith("*")) return name.startsWith(pattern.slice(0, -1));
  return name === pattern;
}
