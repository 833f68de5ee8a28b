/** Which other files a text names with `@path`: outside of code, each once. Pure. */

/** More than a text for people names. */
const maxImports = 50;

export function importsIn(text: string): string[] {
  if (!text.includes("@")) return [];
  const found = new Set<string>();
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = fenceOf(line);
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    for (const place of namedIn(withoutCode(line))) {
      found.add(place);
      if (found.size >= maxImports) return [...found];
    }
  }
  return [...found];
}

/** The marks that begin or end a block of code. */
function fenceOf(line: string): string | undefined {
  const text = line.trimStart();
  const sign = text[0];
  if (sign !== "`" && sign !== "~") return undefined;
  let length = 0;
  while (text[length] === sign) length++;
  return length >= 3 ? text.slice(0, length) : undefined;
}

/** What stands between single backquotes is shown, not meant. */
function withoutCode(line: string): string {
  if (!line.includes("`")) return line;
  return line
    .split("`")
    .filter((_, index) => index % 2 === 0)
    .join(" ");
}

function namedIn(line: string): string[] {
  if (!line.includes("@")) return [];
  return line
    .split(/\s/)
    .filter((word) => word.startsWith("@") && word.length > 1 && word.length < 1_000)
    .map((word) => word.slice(1).replace(/[.,;:!?)\]}"']{1,10}$/, ""))
    .filter((place) => place !== "");
}
