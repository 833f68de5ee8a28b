/**
 * Text for a page that is read, not approved: what could reorder, hide or overwrite words is shown by its name, and
 * what people write in their languages stays as it is. What somebody is asked to approve goes through `visible`.
 */

export function readable(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  const spelled = new Set([...lines.matchAll(spelledJoiner)].map(({ index }) => index));
  return lines.replace(strange, (character, index: number) =>
    spelled.has(index) ? character : nameOf(character),
  );
}

/** The words of a terminal's output, without its colours and movements. What was overwritten is shown too. */
export function plainTerminal(output: string): string {
  return readable(output.replace(escapeSequence, "").replaceAll("\r\n", "\n").replaceAll("\r", "\n"));
}

/** Controls but tab and line feed; bidi and other formats; separators; tags; fillers; halves of characters. */
const strange = new RegExp(
  [
    "[^\\P{Cc}\\t\\n]",
    "[\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]",
    "[\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
    "\\p{Cs}",
  ].join("|"),
  "gu",
);

/** Joiners belong to the spelling of many scripts, and hold emoji together. Between Latin letters they only hide. */
const spelledJoiner = new RegExp(
  [
    "(?<=[\\p{L}\\p{M}])(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}])[\\u200c\\u200d]",
    "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
  ].join("|"),
  "gu",
);

/** Colours and movements; strings with their end; other short ones. A string without an end is left to be seen. */
const escapeSequence = new RegExp(
  [
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]",
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)",
    "\\u001b[ -/]*[0-OQ-WYZ\\\\`-~]",
  ].join("|"),
  "gu",
);

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
