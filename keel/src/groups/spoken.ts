/** What of an answer goes to the people of a group: all but what the agent marked as its own. */

export type Spoken = { readonly said: string; readonly internal: readonly string[] };

const tag = /<(\/?)internal\b[^<>]*>/gi;

/**
 * Parts between `<internal>` and `</internal>` are kept apart, also one inside of another. One that is never closed goes
 * on to the end: rather too little is said than something that nobody was to read. An end without a start is left out.
 */
export function spoken(text: string): Spoken {
  const internal: string[] = [];
  let [said, depth, from] = ["", 0, 0];
  for (const { index, 0: found, 1: slash } of text.matchAll(tag)) {
    if (slash === "" && depth++ === 0) {
      said += text.slice(from, index);
      from = index + found.length;
    } else if (slash === "/" && depth <= 1) {
      const part = text.slice(from, index);
      if (depth === 1) internal.push(part.trim());
      else said += part;
      [depth, from] = [0, index + found.length];
    } else if (slash === "/") depth--;
  }
  const rest = text.slice(from);
  if (depth > 0) internal.push(rest.trim());
  else said += openTagCut(rest);
  return { said: said.replace(/\n{3,}/g, "\n\n").trim(), internal: internal.filter((part) => part !== "") };
}

/** A text that was cut inside of a tag ends before it. */
const openTagCut = (text: string): string => text.replace(/<\/?internal\b[^<>]*$/i, "");
