/** How answers are written: the styles that come with Keel, and the choice among them and those from folders. */
import type { OutputStyle } from "../../config/definitions/output-styles.ts";

export const defaultStyle = "default";

export const builtInStyles: readonly OutputStyle[] = [
  {
    name: "brief",
    description: "As few words as possible.",
    text: `# Your answers
- The result alone, in one to three lines; no introduction and no closing words.
- A list only where there is one. Code only where it was asked for.`,
    keepsWork: true,
  },
  {
    name: "teaching",
    description: "Also says why, for somebody who learns.",
    text: `# Your answers
- Answer in the person's language, beginning with the result.
- Then say in a few sentences why it is done this way and which other ways there are, tied to the code at hand.
- Where a small part would teach something, leave it to the person: say what is to be written, where, and how they can tell that it is right.`,
    keepsWork: true,
  },
];

/** Undefined is the default, which is part of the prompt itself. A sentence for a name that nobody has. */
export function chooseStyle(
  wanted: string | undefined,
  fromFolders: readonly OutputStyle[],
): { readonly style: OutputStyle | undefined; readonly problem?: string } {
  if (wanted === undefined || wanted.toLowerCase() === defaultStyle) return { style: undefined };
  const all = [...fromFolders, ...builtInStyles];
  const style =
    all.find(({ name }) => name === wanted) ??
    all.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (style) return { style };
  const names = [defaultStyle, ...all.map(({ name }) => name)].join(", ");
  return {
    style: undefined,
    problem: `There is no output style called ${JSON.stringify(wanted)}. There are: ${names}.`,
  };
}

/** All names, as a host may list them. */
export const styleNames = (fromFolders: readonly OutputStyle[]): string[] => [
  ...new Set([
    defaultStyle,
    ...builtInStyles.map(({ name }) => name),
    ...fromFolders.map(({ name }) => name),
  ]),
];
