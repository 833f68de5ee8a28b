/**
 * A recipe: a prompt with parameters, and how it is run, in one Markdown file that people share. What is wrong with it or
 * with what it was given is a sentence; nothing of it is filled in halfway.
 */
import { type Frontmatter, type FrontValue, listField, parseFrontmatter, textField } from "./frontmatter.ts";

export type RecipeParameter = {
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly description: string | undefined;
  readonly default: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly pattern: string | undefined;
};

export type Recipe = {
  readonly description: string | undefined;
  readonly parameters: ReadonlyMap<string, RecipeParameter>;
  readonly prompt: string;
  readonly model: string | undefined;
  readonly mode: string | undefined;
  readonly effort: string | undefined;
  readonly maxTurns: string | undefined;
  readonly maxBudgetUsd: string | undefined;
  readonly tools: readonly string[] | undefined;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Commands that must end well before the run is over. */
  readonly checks: readonly string[];
};

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

const types = ["string", "integer", "number", "boolean"] as const;
const parameterFields = ["type", "description", "default", "enum", "pattern"];
const fields = [
  "name",
  "description",
  "params",
  "model",
  "mode",
  "effort",
  "max-turns",
  "max-budget-usd",
  "tools",
  "allow",
  "deny",
  "checks",
];
/** Where a value goes: `{{name}}`. */
const slot = /\{\{\s*([\w-]+)\s*\}\}/g;

export function readRecipe(text: string): Checked<Recipe> {
  const front = parseFrontmatter(text);
  const [problem] = front.problems;
  if (problem !== undefined) return { ok: false, why: `Its header cannot be read: ${problem}.` };
  const strange = [...front.fields.keys()].find((name) => !fields.includes(name));
  if (strange !== undefined)
    return { ok: false, why: `It has a field ${JSON.stringify(strange)}. There are: ${fields.join(", ")}.` };
  const parameters = parametersOf(front);
  if (!parameters.ok) return parameters;
  const prompt = front.body.trim();
  if (prompt === "") return { ok: false, why: "It has no prompt below its header." };
  const unknown = [...prompt.matchAll(slot)].find(([, name = ""]) => !parameters.value.has(name))?.[1];
  if (unknown !== undefined)
    return { ok: false, why: `Its prompt uses {{${unknown}}}, which is no parameter.` };
  const mode = textField(front, "mode");
  if (mode === "bypassPermissions")
    return {
      ok: false,
      why: "No recipe may say bypassPermissions: say so yourself, with --permission-mode.",
    };
  return {
    ok: true,
    value: {
      description: textField(front, "description"),
      parameters: parameters.value,
      prompt,
      model: textField(front, "model"),
      mode,
      effort: textField(front, "effort"),
      maxTurns: textField(front, "max-turns"),
      maxBudgetUsd: textField(front, "max-budget-usd"),
      tools: listField(front, "tools"),
      allow: listField(front, "allow") ?? [],
      deny: listField(front, "deny") ?? [],
      checks: checksOf(front),
    },
  };
}

/** A command may hold commas: a text is one check, a list several. */
function checksOf({ fields: given }: Frontmatter): readonly string[] {
  const checks = given.get("checks");
  if (typeof checks === "string") return checks.trim() === "" ? [] : [checks.trim()];
  return Array.isArray(checks) ? checks.filter((check) => typeof check === "string") : [];
}

function parametersOf({ fields: given }: Frontmatter): Checked<ReadonlyMap<string, RecipeParameter>> {
  const found = new Map<string, RecipeParameter>();
  const params = given.get("params") ?? {};
  if (!isMap(params)) return { ok: false, why: "`params` must name parameters, each with its fields." };
  for (const [name, said] of Object.entries(params)) {
    const parameter = parameterOf(said);
    if (typeof parameter === "string") return { ok: false, why: `The parameter ${name} ${parameter}` };
    found.set(name, parameter);
  }
  return { ok: true, value: found };
}

/** A text is what is meant when nothing is given. */
function parameterOf(said: FrontValue): RecipeParameter | string {
  if (typeof said === "string" && said.startsWith("{")) return "must have its fields on lines of their own.";
  if (typeof said === "string")
    return { type: "string", description: undefined, default: said, choices: undefined, pattern: undefined };
  if (!isMap(said)) return "must be a text or have fields.";
  const strange = Object.keys(said).find((name) => !parameterFields.includes(name));
  if (strange !== undefined) return `has a field ${strange}. There are: ${parameterFields.join(", ")}.`;
  const type = types.find((one) => one === (said["type"] ?? "string"));
  if (!type) return `has a type that is none of ${types.join(", ")}.`;
  const choices = said["enum"];
  const pattern = wordOf(said["pattern"]);
  if (pattern !== undefined && !isPattern(pattern)) return "has a pattern that is none.";
  const parameter = {
    type,
    description: wordOf(said["description"]),
    default: wordOf(said["default"]),
    choices: Array.isArray(choices) ? choices.filter((choice) => typeof choice === "string") : undefined,
    pattern,
  };
  const wrong = parameter.default === undefined ? undefined : whyWrong(parameter.default, parameter);
  return wrong === undefined ? parameter : `has a default that ${wrong}.`;
}

/** The prompt with every value in its place. A value is never looked at for places of others. */
export function fillRecipe(
  { prompt, parameters }: Recipe,
  given: ReadonlyMap<string, string>,
): Checked<string> {
  const names = [...parameters.keys()];
  const strange = [...given.keys()].find((name) => !parameters.has(name));
  if (strange !== undefined)
    return { ok: false, why: `There is no parameter ${strange}. There are: ${names.join(", ") || "none"}.` };
  const values = new Map<string, string>();
  for (const [name, parameter] of parameters) {
    const value = given.get(name) ?? parameter.default;
    if (value === undefined) return { ok: false, why: `The parameter ${name} is missing: --param ${name}=…` };
    const wrong = whyWrong(value, parameter);
    if (wrong !== undefined) return { ok: false, why: `The parameter ${name} ${wrong}.` };
    values.set(name, value);
  }
  const filled = prompt.replace(slot, (_, name: string) => values.get(name) ?? "");
  if (filled.startsWith("/") && !prompt.startsWith("/"))
    return { ok: false, why: "A value makes a slash command of the prompt." };
  return { ok: true, value: filled };
}

function whyWrong(value: string, { type, choices, pattern }: RecipeParameter): string | undefined {
  if (choices && !choices.includes(value)) return `must be one of ${choices.join(", ")}`;
  if (type === "integer" && !/^[+-]?\d{1,15}$/.test(value)) return "must be a whole number";
  if (type === "number" && !/^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return "must be a number";
  if (type === "boolean" && !["true", "false"].includes(value)) return "must be true or false";
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(value.slice(0, 10_000)))
    return `must look like ${pattern}`;
  return undefined;
}

const isMap = (value: FrontValue): value is { readonly [key: string]: FrontValue } =>
  typeof value === "object" && !Array.isArray(value);
const wordOf = (value: FrontValue | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}
