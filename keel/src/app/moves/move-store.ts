/**
 * What a home keeps of moves: its own name, parcels that are written or taken in, and which moves are settled. A move is
 * settled once, for ever: taken, or never to be taken.
 */
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { parseJson } from "../../kernel/json.ts";

export type Settled = "taken" | "void";

export class MoveStore {
  readonly #folder: string;
  readonly #uuid: () => string;

  constructor(home: string, uuid: () => string) {
    this.#folder = path.join(home, "moves");
    this.#uuid = uuid;
  }

  /** Which home this is, for whoever comes again. */
  async id(): Promise<string> {
    const file = path.join(this.#folder, "home");
    const known = await readFile(file, "utf8").catch(() => undefined);
    if (known !== undefined) return known.trim();
    await this.#write(file, `${this.#uuid()}\n`);
    return (await readFile(file, "utf8")).trim();
  }

  /** Private, and of one move. */
  async folder(side: "out" | "in", move: string): Promise<string> {
    const folder = this.#of(side, move);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async forget(side: "out" | "in", move: string): Promise<void> {
    await rm(this.#of(side, move), { recursive: true, force: true });
  }

  async settled(move: string): Promise<Settled | undefined> {
    const said = parseJson(await readFile(this.#settledFile(move), "utf8").catch(() => ""));
    return said === "taken" || said === "void" ? said : undefined;
  }

  /** The first word counts: returns what it is. */
  async settle(move: string, as: Settled): Promise<Settled> {
    await this.#write(this.#settledFile(move), `${JSON.stringify(as)}\n`);
    return (await this.settled(move)) ?? as;
  }

  #of(side: "out" | "in", move: string): string {
    return path.join(this.#folder, side, path.basename(move));
  }

  #settledFile(move: string): string {
    return path.join(this.#folder, "settled", path.basename(move));
  }

  /** Whole and on disk, or not there; one that is there already stays. */
  async #write(file: string, words: string): Promise<void> {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const fresh = `${file}.${this.#uuid()}`;
    try {
      const handle = await open(fresh, "wx", 0o600);
      try {
        await handle.writeFile(words);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await link(fresh, file).catch((thrown: unknown) => {
        if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
      });
      await syncFolder(path.dirname(file));
    } finally {
      await rm(fresh, { force: true });
    }
  }
}

/** Makes a new or another name in a folder last. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
