/** The keys that Keel knows of: by which variables they come, and how they are kept out of what is shown. */

/** Variables that hold a key, or an address or headers that may hold one; with whose it is. */
export const keyVariables: readonly { readonly name: string; readonly why: string }[] = [
  { name: "ANTHROPIC_API_KEY", why: "the key of the model: a command could send it anywhere" },
  { name: "ANTHROPIC_AUTH_TOKEN", why: "a key of the model" },
  { name: "ANTHROPIC_CUSTOM_HEADERS", why: "headers may hold a key" },
  { name: "OPENAI_API_KEY", why: "the key of the model" },
  { name: "BRAVE_API_KEY", why: "the key of the web search" },
  { name: "VOYAGE_API_KEY", why: "the key of the embeddings" },
  { name: "LINEAR_API_KEY", why: "the key of the issues" },
];

type Variables = Readonly<Record<string, string | undefined>>;

/** What these variables hold, and what the harness's own hold that are called a key, a token or a secret. */
export const secretsIn = (env: Variables): string[] =>
  Object.entries(env).flatMap(([name, value = ""]) =>
    keyVariables.some((variable) => variable.name === name) || /^KEEL_.*(?:KEY|TOKEN|SECRET)/.test(name)
      ? [value.trim()]
      : [],
  );

/** Shorter ones are words ("test"), whose removal would only garble the text. */
const minSecret = 6;
const hidden = "[hidden]";

/** Each reads its text once: no nested repetition. */
const secretShapes: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[\w-]{8,}/g,
  /\blin_(?:api|oauth)_\w{8,}/g,
  /\beyJ[\w-]{10,}(?:\.[\w-]+)*/g,
  /(?<=\bbearer )[^\s"',;]+/gi,
  /(?<=:\/\/)[^\s/@]{1,256}@/g,
];

/** What files and tools of developers are full of, and what stands behind a name that says what it is. */
const moreShapes: readonly RegExp[] = [
  /\b(?:sk|pk|rk)_[\w-]{8,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\b(?:gh[a-z]_|github_pat_|glpat-|npm_|hf_|xox[a-z]-)[\w-]{10,}/g,
  /\bAIza[\w-]{20,}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
  /(?<=(?:passw(?:or)?d|passphrase|secret|token|credentials?|api[-_]?key|access[-_]?key)["'\\]{0,2}[ \t]{0,2}[:=][ \t]{0,2}["'\\]{0,2})[^\s"'\\,;(){}]{6,}/gi,
];

/** Every part of a text that looks like a secret, and what of it is one alone, for whoever has to find it elsewhere. */
export const likeSecrets = (text: string): string[] =>
  [...secretShapes, ...moreShapes]
    .flatMap((shape) => [...text.matchAll(shape)].flatMap(([found]) => partsOf(found)))
    .filter((each) => each.length >= minSecret);

/** A secret, and the password of a URL; of several lines each by itself, since a tool may show numbers before them. */
export function partsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n|\\n/).map((line) => line.replace(/^\s*\d+\t/, ""));
  if (lines.length > 1)
    return lines.filter((line) => line.length >= 2 * minSecret && !line.startsWith("-----"));
  return secret.endsWith("@") ? [secret, secret.slice(secret.indexOf(":") + 1, -1)] : [secret];
}

/** A text without these secrets, wherever they stand in it. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  // The longest first: one may be the start of another.
  for (const secret of secrets.toSorted((one, other) => other.length - one.length))
    if (secret.length >= minSecret) shown = shown.replaceAll(secret, hidden);
  return shown;
}

/** And without what looks like a key, a token or a password in a URL. */
export function withoutKeys(text: string, secrets: readonly string[]): string {
  let shown = withoutSecrets(text, secrets);
  for (const shape of secretShapes) shown = shown.replace(shape, hidden);
  return shown;
}
