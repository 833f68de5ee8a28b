/**
 * `keel permissions test`: a team's own test of its rules, run without anything else. A file has calls and the verdicts
 * that they expect, as lines (`policy/expectations.ts`) or as JSON.
 */
import path from "node:path";
import * as z from "zod/mini";
import { readJsonc } from "../../config/settings/jsonc.ts";
import { readPlainText } from "../../config/settings/plain-text.ts";
import { findProject } from "../../config/settings/project-root.ts";
import { fault } from "../../kernel/fault.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import { parseExpectations } from "../../policy/expectations.ts";
import { readSettings } from "../compose/settings.ts";
import { type AskedQuestion, openExplainer, questionSchema } from "./explain.ts";
import type { SettingsLocation } from "./settings-files.ts";

/** Beside the project's settings: what is tested when no file is named. */
export const usualRuleTest = path.join(".keel", "permissions.test");

export type RuleTest = {
  readonly what: string;
  /** Where it stands, in a file of lines. */
  readonly line?: number | undefined;
  readonly expected: string;
  readonly found: string;
  readonly isMet: boolean;
  readonly because: string;
};

export type TestedRules = { readonly tests: readonly RuleTest[]; readonly problems: readonly string[] };

type Case = {
  readonly what: string;
  readonly line?: number | undefined;
  readonly question: AskedQuestion;
  readonly expected: string;
  readonly isMet: (found: { readonly verdict: string; readonly rule?: string | undefined }) => boolean;
  /** The rule has to be the expected one, and is told. */
  readonly isByRule: boolean;
};

/** Throws `usage` for a file that cannot be read as a test. */
export async function testRules(place: SettingsLocation, file: string | undefined): Promise<TestedRules> {
  const named = file ?? path.join(findProject(place.cwd).root, usualRuleTest);
  // Beside the settings means in the project, not in a project of its own.
  const folder = path.dirname(named);
  const { root } = findProject(path.basename(folder) === ".keel" ? path.dirname(folder) : folder);
  const here = { ...place, cwd: root };
  const cases = await readCases(here, named);
  const explainer = await openExplainer(here, "nothing");
  const tests: RuleTest[] = [];
  const problems = new Set<string>();
  for (const { what, line, question, expected, isMet, isByRule } of cases) {
    const { problems: unread, verdict, rule, because } = await explainer.explain(question);
    for (const problem of unread) problems.add(problem);
    const found = isByRule ? `${verdict} by ${rule ?? "no rule"}` : verdict;
    tests.push({ what, line, expected, found, isMet: isMet({ verdict, rule }), because });
  }
  return { tests, problems: [...problems] };
}

async function readCases(place: SettingsLocation, file: string): Promise<Case[]> {
  const refuse = (reason: string) => fault("usage", { reason: `${file} is not a test of rules: ${reason}.` });
  const read = await readPlainText(file, { links: "follow" });
  if (read.kind === "missing") throw refuse("there is no such file");
  if (read.kind === "refused") throw refuse(read.why);
  if (!/\.jsonc?$/.test(file)) return casesInLines(place, read.text, refuse);
  const written = await readJsonc(read.text);
  if (!written.ok) throw refuse(written.error);
  const parsed = parseWith(fileSchema, written.value);
  if (!parsed.ok) throw refuse(sayIssues(parsed.error));
  const rules = parsed.value.rules ?? (await projectRules(place));
  return parsed.value.cases.map(({ command, expect, ...asked }) => {
    const input = command === undefined ? asked.input : { ...asked.input, command };
    return {
      what: command ?? `${asked.tool ?? "Bash"} ${JSON.stringify(input ?? {})}`,
      question: { ...asked, input, rules: asked.rules ?? rules },
      expected: expect,
      isMet: ({ verdict }) => verdict === expect,
      isByRule: false,
    };
  });
}

async function casesInLines(
  place: SettingsLocation,
  text: string,
  refuse: (reason: string) => Error,
): Promise<Case[]> {
  const parsed = parseExpectations(text);
  if (!parsed.ok)
    throw refuse(parsed.problems.map(({ line, problem }) => `line ${line}: ${problem}`).join("; "));
  const { base, rules: added, expectations } = parsed.value;
  const known = base === "none" ? {} : ((await projectRules(place)) ?? {});
  const list = (name: "allow" | "ask" | "deny") => [...(known[name] ?? []), ...added[name]];
  const rules = { allow: list("allow"), ask: list("ask"), deny: list("deny") };
  return expectations.flatMap(({ line, text: what, verdict, isNot, by, modes, folder, isTrusted, ...call }) =>
    modes.map((mode): Case => {
      const cwd = folder === undefined ? place.cwd : path.resolve(place.cwd, folder);
      return {
        what: modes.length > 1 ? `${what} (${mode})` : what,
        line,
        question: { ...call, cwd, roots: [place.cwd], trusted: isTrusted, mode, rules },
        expected: `${isNot ? "not " : ""}${verdict}${by === undefined ? "" : ` by ${by}`}`,
        isMet: (found) => (found.verdict === verdict && (by === undefined || found.rule === by)) !== isNot,
        isByRule: by !== undefined,
      };
    }),
  );
}

const caseSchema = z.object({
  ...questionSchema.shape,
  /** Short for `input: { command }`. */
  command: z.optional(z.string()),
  expect: z.enum(["allow", "ask", "deny"]),
});

const fileSchema = z.object({
  /** In place of the project's own rules. */
  rules: z.optional(questionSchema.shape.rules),
  cases: z.array(caseSchema),
});

/** What the project says, as if it were trusted: the question is what its rules mean. */
async function projectRules(place: SettingsLocation): Promise<AskedQuestion["rules"]> {
  const { settings } = await readSettings({ ...place, settingSources: ["project"] });
  const { allow, ask, deny } = settings.permissions ?? {};
  return { allow, ask, deny };
}
