// `npm run pictures`: draws the pictures of the guide from the real thing, one function for each face. With a folder as
// its parameter it draws every scene at every width in both themes there, to be looked at.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { terminalScenes } from "./pictures/terminal.ts";

const guide = path.resolve(import.meta.dirname, "../docs/guide/pictures");
const [folder, only] = process.argv.slice(2);

/** What the page about the terminal shows. */
const shownInGuide: ReadonlySet<string> = new Set(["ask-command", "work", "ask-edit-file", "screen-context"]);

async function terminalPictures(): Promise<void> {
  if (folder === undefined) {
    await terminalScenes({
      columns: 80,
      rows: 26,
      theme: "dark",
      take: (name, svg) => {
        if (shownInGuide.has(name)) keep(guide, `terminal-${name}`, svg);
      },
    });
    return;
  }
  for (const columns of [60, 80, 140])
    for (const theme of ["dark", "light"] as const)
      await terminalScenes({
        columns,
        rows: 30,
        theme,
        only,
        take: (name, svg) => keep(folder, `${name}-${columns}-${theme}`, svg),
      });
}

function keep(where: string, name: string, svg: string): void {
  mkdirSync(where, { recursive: true });
  writeFileSync(path.join(where, `${name}.svg`), svg);
}

await terminalPictures();
