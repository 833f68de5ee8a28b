/** The words of a rule about commands, as a shell would take them. */
import { knownText } from "../shell/read/nodes.ts";
import { readScript } from "../shell/read/read-script.ts";
import { betweenBlanks, type ShellPattern, type UnreadPattern, withWords } from "./shell-pattern.ts";

export function readPattern(pattern: ShellPattern | UnreadPattern): ShellPattern {
  if (pattern.kind !== "unread") return pattern;
  const { form, spec } = pattern;
  return withWords(form, spec, wordsOf(form === "prefix" ? spec.slice(0, -2) : spec.replaceAll("\\*", "*")));
}

/** As a shell would take them where that is plain, else what stands between blanks. */
function wordsOf(text: string): string[] {
  const script = readScript(text);
  const [item, ...more] = script.ok ? script.value.items : [];
  if (
    item?.node.kind === "simple" &&
    more.length === 0 &&
    item.node.assignments.length + item.node.redirects.length === 0
  ) {
    const words = item.node.words.map(knownText);
    if (words.every((word) => word !== undefined)) return words;
  }
  return betweenBlanks(text);
}
