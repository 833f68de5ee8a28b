/** The environment of a command: the user's own, without what belongs to the harness, and with a mark. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** Every process of a command carries this, so that strays can be found in the process table. */
export const markVariable = "KEEL_COMMAND";

/** What a command never sees. A star at the end means: every name that starts so. */
export const withheld: readonly { readonly name: string; readonly why: string }[] = [
  { name: "ANTHROPIC_API_KEY", why: "the key of the model: a command could send it anywhere" },
  { name: "ANTHROPIC_AUTH_TOKEN", why: "a key of the model" },
  { name: "ANTHROPIC_CUSTOM_HEADERS", why: "headers may hold a key" },
  {
    name: "ANTHROPIC_BASE_URL",
    why: "its address may hold a password, and a nested harness must not inherit it",
  },
  { name: "OPENAI_API_KEY", why: "the key of the model" },
  { name: "OPENAI_BASE_URL", why: "as for the other provider" },
  { name: "BRAVE_API_KEY", why: "the key of the web search" },
  { name: "VOYAGE_API_KEY", why: "the key of the embeddings" },
  { name: "KEEL_*", why: "the harness's own settings: a nested one starts from the user's" },
  { name: "CDPATH", why: "with it `cd src` may lead elsewhere than to src, which policy has decided about" },
  { name: "SHELLOPTS", why: "options of the shell that change how a command is read" },
  { name: "BASHOPTS", why: "as SHELLOPTS" },
  { name: "GLOBIGNORE", why: "changes what patterns find, which policy has decided about" },
  { name: "BASH_COMPAT", why: "makes bash read a command as an older one did" },
  { name: "POSIXLY_CORRECT", why: "makes bash and other programs read their words in another way" },
  {
    name: "BASH_FUNC_*",
    why: "functions of another shell, which would stand in for programs of the same name",
  },
];

export function commandEnvironment(env: ProcessEnvironment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || isWithheld(name) ? [] : [[name, value]],
    ),
  );
}

function isWithheld(name: string): boolean {
  return withheld.some((row) =>
    row.name.endsWith("*") ? name.startsWith(row.name.slice(0, -1)) : name === row.name,
  );
}
