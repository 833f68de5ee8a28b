// The walks of ARCHITECTURE.md: lists of files in the order in which something passes through them. A file is reached
// from the one that it stands below: by an import, or through a port that both know and that its line names.
import path from "node:path";
import type { Source } from "./source.ts";

export type WalkStep = {
  readonly file: string;
  readonly depth: number;
  /** Written as "through `ports/model.ts`". */
  readonly port: string | undefined;
};
export type Walk = { readonly title: string; readonly steps: readonly WalkStep[] };

/** Lists with a file at the start of every line, below a heading that begins with "One". */
export function walksIn(markdown: string): Walk[] {
  const sections = markdown.split(/^### (?=One )/m).slice(1);
  return sections.map((section) => {
    const [title = "", ...lines] = section.split(/^#{1,3} /m)[0]?.split("\n") ?? [];
    return { title, steps: lines.flatMap(stepIn) };
  });
}

function stepIn(line: string): WalkStep[] {
  const [, indent, file] = /^( *)- `([^`]+\.ts)`/.exec(line) ?? [];
  if (indent === undefined || file === undefined) return [];
  return [{ file, depth: indent.length / 2, port: /through `([^`]+\.ts)`/.exec(line)?.[1] }];
}

/** A sentence for each step that cannot be taken. */
export function brokenSteps({ title, steps }: Walk, sources: readonly Source[]): string[] {
  const imports = new Map(
    sources.map(({ file, imports: all }) => [
      file,
      new Set(all.map(({ specifier }) => path.posix.join(path.posix.dirname(file), specifier))),
    ]),
  );
  const knows = (file: string, other: string): boolean =>
    imports.get(`keel/src/${file}`)?.has(`keel/src/${other}`) ?? false;
  return steps.flatMap(({ file, depth, port }, index) => {
    if (!imports.has(`keel/src/${file}`)) return [`${title}: there is no ${file}`];
    const above = steps.slice(0, index).findLast((step) => step.depth < depth);
    if (!above) return index === 0 ? [] : [`${title}: ${file} stands below nothing`];
    if (port !== undefined)
      return knows(above.file, port) && knows(file, port)
        ? []
        : [`${title}: ${above.file} and ${file} do not share ${port}`];
    return knows(above.file, file) ? [] : [`${title}: ${above.file} does not import ${file}`];
  });
}
