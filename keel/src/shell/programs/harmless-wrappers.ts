/** Wrappers that change how a program runs, but neither what runs nor what it does. */
import { own } from "../../kernel/json.ts";
import type { Argument } from "../meaning/arguments.ts";
import { type Special, unproved } from "./outcome.ts";

/** Their options, and the operands that stand before the program. */
const wrappers: Readonly<
  Record<string, { readonly options: RegExp; readonly valued: RegExp; readonly operands: number }>
> = {
  timeout: {
    options:
      /^(?:-[vp]|--(?:foreground|preserve-status|verbose|kill-after=[\w.]+|signal=\w+)|-k[\d.]+\w?|-s\w+)$/,
    valued: /^(?:-k|-s|--kill-after|--signal)$/,
    operands: 1,
  },
  nice: { options: /^(?:-n-?\d+|-\d+|--adjustment=-?\d+)$/, valued: /^(?:-n|--adjustment)$/, operands: 0 },
  nohup: { options: /^$/, valued: /^$/, operands: 0 },
  stdbuf: {
    options: /^(?:-[ioe](?:0|L|\d+[KMG]?)|--(?:input|output|error)=\w+)$/,
    valued: /^-[ioe]$/,
    operands: 0,
  },
};

/** The command inside; undefined when it is not such a wrapper, or is used in a way that is not known. */
export function insideHarmless(program: string, words: readonly Argument[]): readonly Argument[] | undefined {
  const wrapper = own(wrappers, program);
  if (!wrapper) return undefined;
  let at = 0;
  for (; words[at]?.kind === "fixed" && words[at]?.text.startsWith("-"); at++) {
    const text = words[at]?.text ?? "";
    if (wrapper.valued.test(text)) at += 1;
    else if (text === "--") {
      at += 1;
      break;
    } else if (!wrapper.options.test(text)) return undefined;
  }
  const operands = words.slice(at, at + wrapper.operands);
  if (operands.some(({ kind, text }) => kind !== "fixed" || !/^[\d.]+[smhd]?$/.test(text))) return undefined;
  const inside = words.slice(at + wrapper.operands);
  return inside.length > 0 ? inside : undefined;
}

const special =
  (program: string): Special =>
  (words) => {
    const inside = insideHarmless(program, words);
    return inside
      ? { kind: "reads", runs: [inside] }
      : unproved(`${program} is used in a way that is not known`);
  };

export const harmlessWrappers: Readonly<Record<string, Special>> = Object.fromEntries(
  Object.keys(wrappers).map((program) => [program, special(program)]),
);
