/** Cases of an eval: a folder with `case.json` and its `files/`, or one JSON file. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { fault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { plainOptionFields } from "../plain-options.ts";

const flag = z.optional(z.boolean());
const count = z.optional(z.int());

/** What must hold at the end. `not` turns any of them round. */
const checkSchema = z.union([
  /** Exit code 0 in the folder of the case. */
  z.strictObject({ command: z.string(), not: flag }),
  /** The last answer has this, as a regular expression. */
  z.strictObject({ answer: z.string(), not: flag }),
  /** A file has this text; with `is`, nothing else; without either, it is there. */
  z.strictObject({
    file: z.string(),
    contains: z.optional(z.string()),
    is: z.optional(z.string()),
    not: flag,
  }),
  /** How often a tool was called; at least once when nothing is said. */
  z.strictObject({ tool: z.string(), atLeast: count, atMost: count, not: flag }),
  /** For what reason the last turn ended. */
  z.strictObject({ end: z.string(), not: flag }),
  /** A model reads the answer and the changed files, and says whether this is met. */
  z.strictObject({ rubric: z.string(), not: flag }),
]);
export type EvalCheck = z.infer<typeof checkSchema>;

const caseSchema = () =>
  z.strictObject({
    says: z.optional(z.string()),
    /** One message, or several one after the other. */
    prompt: z.union([z.string(), z.array(z.string())]),
    checks: z.array(checkSchema),
    /** By their names, beside those of the folder `files`. */
    files: z.optional(z.record(z.string(), z.string())),
    /** Of the session, under the names of its flags. */
    options: z.optional(z.strictObject(plainOptionFields())),
    /** What a scripted model answers, where no other model is named. */
    script: z.optional(jsonSchema),
  });

export type EvalCase = Omit<z.infer<ReturnType<typeof caseSchema>>, "prompt"> & {
  readonly name: string;
  readonly prompts: readonly string[];
  /** Its folder of files, where it has one. */
  readonly folder: string | undefined;
};

/** Sorted by name. Throws `usage` for a folder without cases, and for a case that is wrong. */
export async function readCases(place: string): Promise<EvalCase[]> {
  const names = await readdir(place).catch(() => {
    throw fault("usage", { reason: `${place} cannot be read.` });
  });
  const cases: EvalCase[] = [];
  for (const name of names.sort()) {
    const at = path.join(place, name);
    const isFolder = (await stat(at)).isDirectory();
    const file = isFolder ? path.join(at, "case.json") : at;
    if (!isFolder && !name.endsWith(".json")) continue;
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const files = path.join(at, "files");
    const hasFiles = isFolder && (await stat(files).catch(() => undefined))?.isDirectory();
    cases.push(caseOf(name.replace(/\.json$/, ""), text, hasFiles ? files : undefined));
  }
  if (cases.length === 0) throw fault("usage", { reason: `${place} has no cases.` });
  return cases;
}

function caseOf(name: string, text: string, folder: string | undefined): EvalCase {
  const written = parseJson(text);
  if (written === undefined) throw fault("usage", { reason: `The case ${name} is no JSON.` });
  const parsed = parseWith(caseSchema(), written);
  if (!parsed.ok) throw fault("usage", { reason: `The case ${name} is wrong: ${sayIssues(parsed.error)}.` });
  const { prompt, ...rest } = parsed.value;
  return { ...rest, name, folder, prompts: [prompt].flat() };
}
