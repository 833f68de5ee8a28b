/**
 * What must not be remembered: keys, tokens and passwords, by their shapes, by the names that they are given, and by how
 * little they look like words. Taken out before a text is cut, so that no piece holds half of one. What is taken out in
 * vain is only not found again.
 */
import { withoutKeys } from "../kernel/secrets.ts";

const hidden = "[hidden]";

/** Each reads its text once: no nested repetition. */
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\b(?:sk|pk|rk|whsec)_[\w-]{8,}/g,
  /\b(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{12,}/g,
  /\b(?:gh[a-z]_|github_pat_|glpat-|gldt-|npm_|pypi-|hf_|xox[a-z]-|xapp-|dop_v1_|shpat_|shpss_|sq0[a-z]{3}-|ya29\.|dckr_pat_|atlasv1\.|hvs\.|SG\.|key-|rubygems_|PMAK-|NRAK-|glc_|figd_|pat-|ntn_|secret_)[\w.-]{10,}/g,
  /\bAIza[\w-]{20,}/g,
  /\b\d{8,10}:[\w-]{30,}/g,
  /https:\/\/hooks\.slack\.com\/services\/[\w/]+/g,
  // What is called a secret, whatever it looks like; a closing quote or a blank ends it.
  /(?<=(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|credentials?|client[_-]?secret|signature|sig)["']?\s{0,3}(?:[:=]|=>|:=)\s{0,3}["']?)[^\s"'`,;&<>]{6,}/gi,
  /(?<=(?:--password|--token|--secret|--api-key|-p)[= ]["']?)[^\s"'-][^\s"']{5,}/g,
  /(?<=\b(?:basic|bearer|token|digest|apikey) )[\w+/=.~-]{12,}/gi,
  /(?<=\b(?:password|passphrase|secret|token|pin) (?:is|was|are)[: ]+["'`]?)[^\s"'`,;]{6,}/gi,
];

/** A run of signs as secrets are made of, with digits among the letters. */
const run = /[A-Za-z0-9+_=-]{20,}/g;
/** With slashes it may be a path; one of this very length seldom is. */
const fortyWithSlashes = /(?<![\w+/=.-])[A-Za-z0-9+/]{40}(?![\w+/=-])/g;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function withoutUnsafeWords(text: string, known: readonly string[]): string {
  let clean = text;
  for (const shape of shapes) clean = clean.replace(shape, hidden);
  clean = withoutKeys(clean, known);
  return clean
    .replace(fortyWithSlashes, (word) => (looksRandom(word) && /[A-Z]/.test(word) ? hidden : word))
    .replace(run, (word) => (!uuid.test(word) && looksRandom(word) ? hidden : word));
}

/** Letters and digits in turn, and more signs than words of this length have. */
function looksRandom(word: string): boolean {
  const isHex = /^[0-9a-fA-F]+$/.test(word);
  if (isHex) return word.length >= 32 && entropyOf(word) > 3;
  if (!/\d/.test(word) || !/[A-Za-z]/.test(word)) return false;
  // Names of things are words with something between them: `read_utf8_file_2`.
  const longest = Math.max(...word.split(/[_=+-]/).map(({ length }) => length));
  if (longest < 14) return false;
  const turns = word.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  return entropyOf(word) > 3.3 && turns * 5 >= word.length;
}

/** Bits for each sign. */
function entropyOf(word: string): number {
  const counts = new Map<string, number>();
  for (const sign of word) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / word.length) * Math.log2(count / word.length);
  return bits;
}
