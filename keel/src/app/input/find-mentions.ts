/** What a person names with `@` in their words: files with lines, folders, agents. Pure, and linear in the text. */

export type Mention = {
  /** As it was written, without the `@`, quotes and lines. */
  readonly name: string;
  readonly first: number | undefined;
  readonly last: number | undefined;
};

/** More than anybody names; what is beyond stays text. */
const maxMentions = 20;
/** Signs that are looked at: in a text that is full of them nobody names files. */
const maxLooks = 2_000;
const maxCharacters = 1_024;

/** Each once, in the order of the text. Words in which an `@` stands in the middle, such as addresses, name nothing. */
export function findMentions(text: string): Mention[] {
  const found = new Map<string, Mention>();
  let looks = 0;
  for (let at = text.indexOf("@"); at >= 0 && looks < maxLooks; at = text.indexOf("@", at + 1)) {
    looks += 1;
    const before = at === 0 ? " " : (text[at - 1] ?? " ");
    if (!/[\s([{"'`,;:]/.test(before)) continue;
    const written = text[at + 1] === '"' ? quoted(text, at + 2) : plain(text, at + 1);
    if (written === undefined || written === "") continue;
    const mention = withLines(written);
    found.set(`${mention.name}#${mention.first}-${mention.last}`, mention);
    if (found.size >= maxMentions) break;
  }
  return [...found.values()];
}

/** Up to its closing quote, which stands on the same line. */
function quoted(text: string, start: number): string | undefined {
  const near = text.slice(start, start + maxCharacters);
  const end = near.search(/["\n]/);
  return end > 0 && near[end] === '"' ? `${near.slice(0, end)}${linesAfter(near, end + 1)}` : undefined;
}

const linesAfter = (near: string, at: number): string =>
  /^[#:][\dL-]{1,30}/.exec(near.slice(at, at + 40))?.[0] ?? "";

function plain(text: string, start: number): string {
  const near = text.slice(start, start + maxCharacters);
  const end = near.search(/[\s"'`<>|,;()[\]{}]/);
  return (end < 0 ? near : near.slice(0, end)).replace(/[.!?:]{1,10}$/, "");
}

/** `a.ts#L3-9`, `a.ts#L3`, `a.ts:3-9` and `a.ts:3`. */
function withLines(written: string): Mention {
  const lines = /^(.{1,1024}?)(?:#L?|:)(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(written);
  if (!lines) return { name: written, first: undefined, last: undefined };
  const [, name = "", from = "1", to = from] = lines;
  const first = Math.max(1, Number(from));
  return { name, first, last: Math.max(first, Number(to)) };
}
