/**
 * Names of variables that no project may set, trusted or not: those that say where keys and requests go, and those that
 * change what the name of a program means. A permission is given for what a command says; it must be what runs.
 */

/** Why a project may not set it, or undefined for an ordinary variable. In any case of its letters. */
export function whyWithheld(name: string): string | undefined {
  const upper = name.toUpperCase();
  return rows.find(({ names }) => names.split(/\s+/).some((pattern) => matches(pattern, upper)))?.because;
}

const rows: readonly { readonly names: string; readonly because: string }[] = [
  { names: "KEEL_* CLAUDE_*", because: "it changes Keel itself" },
  {
    names: "ANTHROPIC_* OPENAI_* BRAVE_* VOYAGE_*",
    because: "it says where requests go and with which key",
  },
  { names: "*_PROXY NO_PROXY", because: "it leads requests through somebody else" },
  {
    names: "NODE_EXTRA_CA_CERTS NODE_TLS_* SSL_CERT_* SSLKEYLOGFILE *_CA_BUNDLE CURL_*",
    because: "it says whose certificates are believed",
  },
  {
    names: `NODE_OPTIONS NODE_PATH LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH PYTHON* PERL* RUBY* GEM_* BUNDLE_* LUA_*
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
