/** Recipes for hosts: a file and what its parameters are given, as a prompt and the flags with which it is run. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fillRecipe, type Recipe, readRecipe } from "../../config/definitions/recipe.ts";
import { fault, reasonOf } from "../../kernel/fault.ts";

/** Longer ones are no prompt. */
const maxBytes = 1_000_000;

export type RunRecipe = {
  readonly prompt: string;
  readonly description: string | undefined;
  /** By the names of flags of the command line; what a person says there counts instead. */
  readonly flags: Readonly<Record<string, string | readonly string[]>>;
};

/** Throws `usage` for a recipe that is none, and for parameters that do not fit it. */
export async function openRecipe(
  file: string,
  { cwd, parameters }: { readonly cwd: string; readonly parameters: readonly string[] },
): Promise<RunRecipe> {
  const refuse = (why: string) => fault("usage", { reason: `${file}: ${why}` });
  const text = await readFile(path.resolve(cwd, file), "utf8").catch((thrown: unknown) => {
    throw refuse(reasonOf(thrown));
  });
  if (text.length > maxBytes) throw refuse("It is too long for a recipe.");
  const recipe = readRecipe(text);
  if (!recipe.ok) throw refuse(recipe.why);
  const given = new Map(
    parameters.map((pair): [string, string] => {
      const at = pair.indexOf("=");
      if (at <= 0) throw fault("usage", { reason: `--param ${pair}: a parameter is given as NAME=VALUE.` });
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  const prompt = fillRecipe(recipe.value, given);
  if (!prompt.ok) throw refuse(prompt.why);
  return { prompt: prompt.value, description: recipe.value.description, flags: flagsFor(recipe.value) };
}

function flagsFor(recipe: Recipe): RunRecipe["flags"] {
  const { model, mode, effort, maxTurns, maxBudgetUsd, tools, allow, deny, checks } = recipe;
  const flags: Record<string, string | readonly string[] | undefined> = {
    model,
    effort,
    "permission-mode": mode,
    "max-turns": maxTurns,
    "max-budget-usd": maxBudgetUsd,
    tools: tools?.join(","),
    "allowed-tools": allow.length > 0 ? allow : undefined,
    "disallowed-tools": deny.length > 0 ? deny : undefined,
    until: checks.length > 0 ? `${checks.map((check) => `(${check})`).join(" && ")} passes` : undefined,
  };
  return Object.fromEntries(
    Object.entries(flags).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
