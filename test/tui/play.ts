// Recorded scenes one after the other on one real terminal, each with a picture as it stands and after every key.
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { GoldenScene } from "./fed.ts";
import { openScreen, type Screen } from "./screen.ts";

const child = path.resolve(import.meta.dirname, "fed-child.ts");

export type Played = {
  readonly scene: string;
  readonly index: number;
  /** What was typed last, in words; empty for the scene as it stands. */
  readonly said: string;
  readonly screen: Screen;
};

export type PlayOptions = {
  readonly columns: number;
  readonly rows?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly scenes: readonly GoldenScene[];
  /** Where the scenes are written for the program that plays them. */
  readonly folder: string;
  picture(played: Played): void | Promise<void>;
};

/** Returns the screen when all was played and it has ended. */
export async function playScenes({
  columns,
  rows = 30,
  env = {},
  scenes,
  folder,
  picture,
}: PlayOptions): Promise<Screen> {
  const file = path.join(folder, "scenes.json");
  writeFileSync(file, JSON.stringify(scenes));
  const screen = openScreen({
    command: process.execPath,
    parameters: ["--disable-warning=ExperimentalWarning", child, file],
    cwd: folder,
    columns,
    rows,
    env: { PATH: process.env["PATH"], COLORFGBG: "15;0", ...env },
  });
  try {
    let title = "";
    screen.terminal.onTitleChange((words) => {
      title = words;
    });
    for (const [index, { name: scene, keys = [] }] of scenes.entries()) {
      await screen.until(`scene ${scene}`, () => title === `still ${index}`);
      await screen.settled(120);
      await picture({ scene, index, said: "", screen });
      for (const { say, type } of keys) {
        const before = screen.written.length;
        screen.type(type);
        await screen.until(`an answer to ${say}`, ({ written }) => written.length > before);
        await screen.settled(150);
        if (say !== "") await picture({ scene, index, said: say, screen });
      }
      process.kill(screen.pid, "SIGUSR2");
    }
    await screen.ended;
    return screen;
  } finally {
    screen.kill("SIGKILL");
  }
}
