/**
 * What would be decided about a call, told without a session: for a person, for programs line by line, and for a team's
 * own tests of its rules (`rule-tests.ts`). Paths are judged by their text. Nothing runs, and nobody's settings are read unless asked for.
 */
import * as z from "zod/mini";
import { userHome } from "../../config/settings/paths.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { present } from "../../kernel/json.ts";
import { parseWith, sayIssues } from "../../kernel/schema.ts";
import type { Rules } from "../../policy/decide.ts";
import { type ExplainRequest, type ExplanationInWords, explainInWords } from "../../policy/explain.ts";
import { type PermissionRule, parseRule } from "../../policy/rules.ts";
import { permissionModeSchema } from "../../protocol/settings.ts";
import { parseJsonLine } from "../../transport/strict-json.ts";
import { openGrammar } from "../../workspace/processes/grammar.ts";
import { foldersOf } from "../compose/folders.ts";
import { readRules } from "../compose/rules.ts";
import { readSettings } from "../compose/settings.ts";
import type { SettingsLocation } from "./settings-files.ts";

const ruleTexts = z.optional(z.array(z.string()));

export const questionSchema = z.object({
  id: z.optional(z.union([z.string(), z.number(), z.null()])),
  tool: z.optional(z.string()),
  input: z.optional(z.record(z.string(), z.unknown())),
  cwd: z.optional(z.string()),
  home: z.optional(z.string()),
  roots: z.optional(z.array(z.string())),
  trusted: z.optional(z.boolean()),
  mode: z.optional(permissionModeSchema),
  rules: z.optional(z.object({ allow: ruleTexts, ask: ruleTexts, deny: ruleTexts })),
  readOnlyAuto: z.optional(z.boolean()),
});
export type AskedQuestion = z.infer<typeof questionSchema>;

export type Explained = ExplanationInWords & {
  /** Rules of the question that are none: they match nothing. */
  readonly problems: readonly string[];
};

export type Explainer = {
  /** What of the settings could not be read, for a person. */
  readonly problems: readonly string[];
  explain(asked: AskedQuestion): Promise<Explained>;
  /** One line of JSON to one object: the answer, or what is wrong with the line. */
  answer(line: string): Promise<{ readonly line: JsonObject; readonly problems: readonly string[] }>;
};

/** `with settings` lays the question over the settings in force, the project's trust and its folders. */
export async function openExplainer(
  place: SettingsLocation,
  from: "nothing" | "settings",
): Promise<Explainer> {
  const grammar = openGrammar();
  const { problems: unread, ...ground } =
    from === "settings" ? await settingsDefaults(place) : { ...plainDefaults(place), problems: [] };
  const explainer: Explainer = {
    problems: unread,
    async explain(asked) {
      const { tool = "Bash", input = {}, rules: written = {}, id: _, ...said } = asked;
      const { rules, problems } = rulesOf(written, ground.rules);
      const roots = asked.cwd === undefined ? ground.roots : [asked.cwd];
      const question = { ...ground, roots, ...present(said), tool, input, rules };
      return { ...(await explainInWords(grammar, question)), problems };
    },
    async answer(text) {
      const written = parseJsonLine(text);
      if (!written.ok) return { line: { id: null, error: written.error.message }, problems: [] };
      const id = idIn(written.value);
      const parsed = parseWith(questionSchema, written.value);
      if (!parsed.ok) return { line: { id, error: sayIssues(parsed.error) }, problems: [] };
      const { problems, ...explained } = await explainer.explain(parsed.value);
      const { programs, wrapped, flags, verdict, because } = explained;
      return {
        line: { id, verdict, because, programs: [...programs], wrapped: [...wrapped], flags: { ...flags } },
        problems,
      };
    },
  };
  return explainer;
}

/** What a question is about where it says nothing itself. */
type QuestionDefaults = Omit<ExplainRequest, "tool" | "input">;

/** Paths have no meaning here but their text: a trusted project in the folder that is named, and no rule at all. */
const plainDefaults = ({ cwd, env }: SettingsLocation): QuestionDefaults => ({
  cwd,
  home: userHome(env),
  roots: [cwd],
  trusted: true,
  mode: "default",
  rules: { allow: [], ask: [], deny: [] },
  readOnlyAuto: true,
});

async function settingsDefaults(
  place: SettingsLocation,
): Promise<QuestionDefaults & { problems: readonly string[] }> {
  const inForce = await readSettings(place);
  const { rules, unread } = readRules(inForce);
  const mode = inForce.settings.permissions?.defaultMode ?? "default";
  const { cwd, roots } = foldersOf({ ...place, entries: inForce.entries });
  return {
    ...plainDefaults(place),
    cwd,
    roots,
    trusted: inForce.trust.state !== "untrusted",
    // A file alone bypasses nothing: that takes a word at the start.
    mode: mode === "bypassPermissions" ? "default" : mode,
    rules,
    problems: [...inForce.notices.map(({ text }) => text), ...unread.map(({ problem }) => problem)],
  };
}

/** Rules from texts beside those that hold anyway, and the texts that are none. */
function rulesOf(
  texts: NonNullable<AskedQuestion["rules"]>,
  known: Rules,
): { rules: Rules; problems: readonly string[] } {
  const problems: string[] = [];
  const read = (list: "allow" | "ask" | "deny"): PermissionRule[] => {
    const given = (texts[list] ?? []).flatMap((text) => {
      const rule = parseRule(text, "command-line");
      if (!rule) problems.push(`${JSON.stringify(text)} is not a permission rule and matches nothing.`);
      return rule ? [rule] : [];
    });
    return [...known[list], ...given];
  };
  return { rules: { ...known, allow: read("allow"), ask: read("ask"), deny: read("deny") }, problems };
}

const idIn = ({ id }: JsonObject): string | number | null =>
  typeof id === "string" || typeof id === "number" ? id : null;
