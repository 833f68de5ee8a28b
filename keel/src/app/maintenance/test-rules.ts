/** A team's own test of its rules: a file with calls and the verdicts that they expect, run without anything else. */
import path from "node:path";
import * as z from "zod/mini";
import { readJsonc } from "../../config/settings/jsonc.ts";
import { readPlainText } from "../../config/settings/plain-text.ts";
import { findProject } from "../../config/settings/project-root.ts";
import { fault } from "../../kernel/fault.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { readSettings } from "../compose/settings.ts";
import { type AskedQuestion, openExplainer, questionSchema } from "./explain.ts";
import type { SettingsLocation } from "./settings-files.ts";

const verdict = z.enum(["allow", "ask", "deny"]);

const caseSchema = z.object({
  ...questionSchema.shape,
  /** Short for `input: { command }`. */
  command: z.optional(z.string()),
  expect: verdict,
});

const fileSchema = z.object({
  /** In place of the project's own rules. */
  rules: z.optional(questionSchema.shape.rules),
  cases: z.array(caseSchema),
});

export type RuleTest = {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
  readonly because: string;
};

export type TestedRules = { readonly tests: readonly RuleTest[]; readonly problems: readonly string[] };

/** Throws `usage` for a file that cannot be read as a test. */
export async function testRules(place: SettingsLocation, file: string): Promise<TestedRules> {
  const { rules: written, cases } = await readTests(file);
  const { root } = findProject(path.dirname(file));
  const here = { ...place, cwd: root };
  const rules = written ?? (await projectRules(here));
  const explainer = await openExplainer(here, "nothing");
  const tests: RuleTest[] = [];
  const problems = new Set<string>();
  for (const { command, expect, ...asked } of cases) {
    const input = command === undefined ? asked.input : { ...asked.input, command };
    const question: AskedQuestion = { ...asked, input, rules: asked.rules ?? rules };
    const explained = await explainer.explain(question);
    for (const problem of explained.problems) problems.add(problem);
    tests.push({
      what: command ?? `${asked.tool ?? "Bash"} ${JSON.stringify(input ?? {})}`,
      expected: expect,
      found: explained.verdict,
      because: explained.because,
    });
  }
  return { tests, problems: [...problems] };
}

/** What the project says, as if it were trusted: the question is what its rules mean. */
async function projectRules(place: SettingsLocation): Promise<AskedQuestion["rules"]> {
  const { settings } = await readSettings({ ...place, settingSources: ["project"] });
  const { allow, ask, deny } = settings.permissions ?? {};
  return { allow, ask, deny };
}

async function readTests(file: string): Promise<z.infer<typeof fileSchema>> {
  const refuse = (reason: string) => fault("usage", { reason: `${file} is not a test of rules: ${reason}.` });
  const read = await readPlainText(file, { links: "follow" });
  if (read.kind === "missing") throw refuse("there is no such file");
  if (read.kind === "refused") throw refuse(read.why);
  const written = await readJsonc(read.text);
  if (!written.ok) throw refuse(written.error);
  const parsed = parseWith(fileSchema, written.value);
  if (!parsed.ok) throw refuse(sayIssues(parsed.error));
  return parsed.value;
}
