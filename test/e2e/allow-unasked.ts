// What may run without a question, in every session of a stage.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** With whatever else its settings are. */
export function allowUnasked(
  { home }: { readonly home: string },
  tools: readonly string[],
  more: object = {},
): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "settings.json"), JSON.stringify({ permissions: { allow: tools }, ...more }));
}
