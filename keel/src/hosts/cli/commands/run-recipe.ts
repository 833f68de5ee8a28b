/** `keel run FILE`: a recipe, as `keel -p` would run its prompt with its flags. */
import type { Arguments, CliOptions } from "../../../app/flags/arguments.ts";
import { usage } from "../../../app/flags/arguments.ts";
import { openRecipe } from "../../../app/maintenance/recipes.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import type { Context } from "../context.ts";
import { print } from "../print/print.ts";
import { printOptions } from "../print/root.ts";

const own = {
  param: { kind: "list", value: "NAME=VALUE", says: "A parameter of the recipe; may be given several times" },
  show: { kind: "flag", says: "Only say what would be run" },
} as const satisfies CliOptions;

export const recipeOptions: typeof printOptions & typeof own = { ...printOptions, ...own };

export async function runRecipe(
  { values, positionals }: Arguments<typeof recipeOptions>,
  context: Context,
): Promise<number> {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0)
    throw usage("Name one recipe: keel run FILE --param NAME=VALUE.");
  const { param, show, ...said } = values;
  const recipe = await openRecipe(file, { cwd: context.cwd, parameters: param });
  if (show) {
    context.out.line(recipe.prompt);
    for (const [name, value] of Object.entries(recipe.flags))
      context.out.line(`--${name} ${typeof value === "string" ? value : value.join(" ")}`);
    return exitCodes.ended;
  }
  // What a person says at the command line counts in place of what the file says.
  const given = Object.entries(said).filter(([, value]) => !isAbsent(value));
  const joined = { ...said, ...recipe.flags, ...Object.fromEntries(given) };
  return print({ values: joined, positionals: [recipe.prompt] }, context);
}

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0);
