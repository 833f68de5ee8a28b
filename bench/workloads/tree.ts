/** A tree of many small files, as a large repository has them. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const filesPerFolder = 100;
const endings = ["ts", "md", "json", "txt"];

export type Tree = {
  readonly folder: string;
  readonly files: number;
  /** A word that one file in a thousand has. */
  readonly word: string;
};

export function makeTree(folder: string, files: number): Tree {
  const word = "needle";
  for (let made = 0; made < files; made++) {
    const [top, middle] = [Math.floor(made / filesPerFolder / 20), Math.floor(made / filesPerFolder) % 20];
    const place = path.join(folder, `package-${top}`, `part-${middle}`);
    if (made % filesPerFolder === 0) mkdirSync(place, { recursive: true });
    const rare = made % 1_000 === 0 ? `const ${word} = true;\n` : "";
    const text = `export const value${made} = ${made};\n${rare}${"// a line of a comment\n".repeat(10)}`;
    writeFileSync(path.join(place, `file-${made}.${endings[made % endings.length]}`), text);
  }
  return { folder, files, word };
}
