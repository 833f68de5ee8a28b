/** The keys that this start could know of, for whoever prints something. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathsOf } from "../../config/settings/paths.ts";
import { secretsIn } from "../../kernel/secrets.ts";
import type { SettingsLocation } from "./settings-files.ts";

/** Far more than settings and keys take. */
const maxCharacters = 2_000_000;

/** Those of the environment, and those that stand in a person's own files. Never throws, and starts nothing. */
export function knownSecrets(place: SettingsLocation): readonly string[] {
  const { home, settings, compatible } = pathsOf(place);
  const files = [path.join(home, "auth.json"), settings, ...(compatible === undefined ? [] : [compatible])];
  return [...new Set([...secretsIn(place.env), ...files.flatMap(keysIn)])];
}

/** By the names under which keys stand: a file that is no whole JSON is read all the same. */
function keysIn(file: string): string[] {
  try {
    const text = readFileSync(file, "utf8").slice(0, maxCharacters);
    return [...text.matchAll(/"(?:key|[A-Z_]*(?:KEY|TOKEN|SECRET))"\s*:\s*"([^"\\]{6,4096})"/g)].flatMap(
      ([, value]) => value ?? [],
    );
  } catch {
    return []; // None there, or none that may be read: then it is not printed either.
  }
}
