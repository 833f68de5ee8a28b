/** The environment of a command: the user's own, without what belongs to the harness, and with a mark. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Every process of a command carries this, so that strays can be found in the process table. */
export const markVariable = "KEEL_COMMAND";

/** What a command never sees, and why. A star at the end means: every name that starts so. */
const withheld: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: "the key of the model: a command could send it anywhere",
  ANTHROPIC_AUTH_TOKEN: "a key of the model",
  ANTHROPIC_CUSTOM_HEADERS: "headers may hold a key",
  ANTHROPIC_BASE_URL: "its address may hold a password, and a nested harness must not inherit it",
  OPENAI_API_KEY: "the key of the model",
  OPENAI_BASE_URL: "as for the other provider",
  BRAVE_API_KEY: "the key of the web search",
  VOYAGE_API_KEY: "the key of the embeddings",
  "KEEL_*": "the harness's own settings: a nested one starts from the user's",
  CDPATH: "with it `cd src` may lead elsewhere than to src, which policy has decided about",
  SHELLOPTS: "options of the shell that change how a command is read",
  BASHOPTS: "as SHELLOPTS",
  BASH_COMPAT: "makes bash read a command as an older one did",
  POSIXLY_CORRECT: "makes bash and other programs read their words in another way",
  "BASH_FUNC_*": "functions of another shell, which would stand in for programs of the same name",
};

export function commandEnvironment(env: ProcessEnvironment): Record<string, string> {
  const kept = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || isWithheld(name) ? [] : [[name, value]],
    ),
  );
  return { ...kept, ...gitWall(kept) };
}

/**
 * Git takes no bare repository that it only happens to stand in: one more setting behind those that the environment
 * already has. A second wall behind policy, which asks before git is run in such a place.
 */
function gitWall(env: Record<string, string>): Record<string, string> {
  const count = env["GIT_CONFIG_COUNT"] ?? "0";
  if (!/^\d{1,4}$/.test(count)) return {};
  const had = Number(count);
  const names = Array.from({ length: had }, (_, at) => env[`GIT_CONFIG_KEY_${at}`]?.toLowerCase());
  // It is there already, as in the environment of a Keel in a Keel; or the person has said otherwise.
  if (names.includes("safe.barerepository")) return {};
  return {
    GIT_CONFIG_COUNT: String(had + 1),
    [`GIT_CONFIG_KEY_${had}`]: "safe.bareRepository",
    [`GIT_CONFIG_VALUE_${had}`]: "explicit",
  };
}

function isWithheld(name: string): boolean {
  return Object.keys(withheld).some((known) =>
    known.endsWith("*") ? name.startsWith(known.slice(0, -1)) : name === known,
  );
}
