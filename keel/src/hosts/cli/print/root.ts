/** `keel` without the name of a command: prints an answer, or says how to get one. */
import { exitCodes } from "../../../kernel/faults.ts";
import { type Arguments, usage } from "../arguments.ts";
import type { Context } from "../context.ts";
import type { rootOptions } from "./print-options.ts";

export async function root(parsed: Arguments<typeof rootOptions>, context: Context): Promise<number> {
  const { values, positionals } = parsed;
  if (values.version) {
    context.out.line(context.version);
    return exitCodes.ended;
  }
  if (values.print) {
    const { print } = await import("./print.ts");
    return print({ values, positionals }, context);
  }
  if (positionals.length > 0) {
    throw usage(
      `There is no command ${JSON.stringify(positionals[0])}, and the screen is not built yet. For an answer: keel -p "PROMPT".`,
    );
  }
  if (!context.out.isTerminal)
    throw usage('The screen needs a terminal and is not built yet. For an answer: keel -p "PROMPT".');
  const { welcome } = await import("../help.ts");
  context.out.write(welcome);
  return exitCodes.ended;
}
