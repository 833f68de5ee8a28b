/** What is never copied: secrets by their usual names, private keys by their first line, and what the settings name. */
import path from "node:path";
import { pathMatcher } from "../../policy/path-rules.ts";

export type CopyExclusions = {
  /** By its absolute path. */
  isNamed(file: string): boolean;
  /** By what it holds. */
  isKey(content: Uint8Array): boolean;
};

const secretNames = [
  /^\.env/i,
  /\.env$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
  /\.(?:pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx)$/i,
  /^\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$/i,
];

export function exclusionsIn(
  root: string,
  { exclude = [], home }: { exclude?: readonly string[] | undefined; home: string },
): CopyExclusions {
  const excluded = exclude.map((rule) => pathMatcher(rule, { roots: [root], home }));
  return {
    isNamed: (file) => {
      const name = path.basename(file);
      return secretNames.some((secret) => secret.test(name)) || excluded.some((matches) => matches(file));
    },
    isKey: (content) => privateKey.test(Buffer.from(content.subarray(0, maxLineBytes)).toString("latin1")),
  };
}

/** Long enough for the first line of any key. */
const maxLineBytes = 64;
const privateKey = /^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/;
