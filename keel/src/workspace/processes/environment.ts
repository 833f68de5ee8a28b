/** The environment of a command: the user's own, without what belongs to the harness, and with a mark. */
import { keyVariables } from "../../kernel/secrets.ts";

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Every process of a command carries this, so that strays can be found in the process table. */
export const markVariable = "KEEL_COMMAND";

/** What a command never sees, and why. A star at the end means: every name that starts so. */
const withheld: Readonly<Record<string, string>> = {
  ...Object.fromEntries(keyVariables.map(({ name, why }) => [name, why])),
  ANTHROPIC_BASE_URL: "its address may hold a password, and a nested harness must not inherit it",
  OPENAI_BASE_URL: "as for the other provider",
  "KEEL_*": "the harness's own settings: a nested one starts from the user's",
  CDPATH: "with it `cd src` may lead elsewhere than to src, which policy has decided about",
  SHELLOPTS: "options of the shell that change how a command is read",
  BASHOPTS: "as SHELLOPTS",
  GLOBIGNORE: "changes what patterns find, which policy has decided about",
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
 * What has to be said to a place that has the host's environment already, so that a command finds there what it would
 * find here: what it never sees is empty there, since nothing can be taken away. Undefined where that is not enough.
 */
export function environmentOver(
  env: ProcessEnvironment,
  host: ProcessEnvironment,
): Record<string, string> | undefined {
  // Its being there is what counts, whatever it says.
  if (host["POSIXLY_CORRECT"] !== undefined) return undefined;
  const unseen = Object.keys(host).filter((name) => host[name] !== undefined && isWithheld(name));
  const others = Object.entries(commandEnvironment(env)).filter(([name, value]) => host[name] !== value);
  return { ...Object.fromEntries(unseen.map((name) => [name, ""])), ...Object.fromEntries(others) };
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
