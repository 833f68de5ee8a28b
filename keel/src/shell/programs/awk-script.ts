/** What an awk program does, as far as plain reading tells. */

export type AwkFindings = {
  readonly isPlain: boolean;
  readonly runs: readonly string[];
  readonly writes: readonly string[];
  readonly network: boolean;
};

/**
 * Plain is what holds none of the ways out, wherever they stand: a regular expression and a division look alike, so
 * that strings and patterns are not told from code. A bar and a greater sign may be a pipe and a redirection.
 */
export function readAwkScript(script: string): AwkFindings {
  const isPlain =
    !/[|>@`]/.test(withoutComparisons(script.replaceAll("||", ""))) &&
    !/\b(?:system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|ARGC|ARGIND|SYMTAB|FUNCTAB|function|func|include|load|namespace|extension)\b/.test(
      script,
    ) &&
    // What a backslash joins or hides is not looked at.
    !/\\\r?\n/.test(script);
  return {
    isPlain,
    runs: [
      ...stringsBehind(script, /\bsystem\s*\(\s*/g),
      ...stringsBehind(script, /\|&?\s*/g),
      ...stringsBefore(script),
    ],
    writes: stringsBehind(script, />>?\s*/g),
    network: /\/inet[46]?\//.test(script),
  };
}

/**
 * Where there are no strings, no regular expressions and no comments, braces are what they seem, and a greater sign outside of them
 * stands in a pattern, where nothing is printed.
 */
function withoutComparisons(script: string): string {
  if (/["/#]/.test(script)) return script;
  let depth = 0;
  return [...script]
    .filter((sign) => {
      if (sign === "{") depth += 1;
      if (sign === "}") depth -= 1;
      // A brace too many: nothing is what it seems.
      if (depth < 0) depth = Number.NEGATIVE_INFINITY;
      return sign !== ">" || depth !== 0;
    })
    .join("");
}

const string = '"((?:[^"\\\\]|\\\\.)*)"';

const stringsBehind = (script: string, lead: RegExp): string[] =>
  [...script.matchAll(new RegExp(lead.source + string, "g"))].map(([, text = ""]) => undoEscapes(text));

/** `"command" | getline`. */
const stringsBefore = (script: string): string[] =>
  [...script.matchAll(new RegExp(`${string}\\s*\\|&?\\s*getline`, "g"))].map(([, text = ""]) =>
    undoEscapes(text),
  );

const undoEscapes = (text: string): string => text.replace(/\\(.)/g, "$1");
