/** Reads a file for a host, by the same rules by which the model may read it without a question. */
import { deniesReading } from "../../policy/decide.ts";
import type { SessionComposition } from "../compose/session-composition.ts";

export type FileContents = { readonly path: string; readonly bytes: Uint8Array; readonly stamp: string };

/** Undefined for what is outside of the folders, denied, or cannot be read. */
export async function lookAtFile(
  { parts: { workspace, rules } }: Pick<SessionComposition, "parts">,
  name: string,
  { maxBytes }: { maxBytes: number },
): Promise<FileContents | undefined> {
  const facts = await workspace.files.describe(name);
  const ground = { roots: workspace.roots, home: workspace.commands?.home ?? "/" };
  if (facts.root === undefined || deniesReading(rules, facts.path, ground)) return undefined;
  const read = await workspace.files.read(facts.path, { maxBytes });
  return read.ok ? { path: read.file.path, bytes: read.file.bytes, stamp: read.file.stamp } : undefined;
}
