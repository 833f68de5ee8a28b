/** Other programs that do the same work, where they are installed: each a small file in `bench/peers/`. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

export type Peer = {
  readonly name: string;
  /** The program; a variable of the environment that names it is written as `$NAME`. */
  readonly command: string;
  /** `{PROMPT}` and `{URL}` stand for the prompt and the address of the model. */
  readonly parameters: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that it wants to find in its home, by path. */
  readonly files?: Readonly<Record<string, string>>;
};

/** Only those whose program is there. */
export function installedPeers<T extends Peer = Peer>(folder = path.join(import.meta.dirname, "peers")): T[] {
  return globSync("*.json", { cwd: folder }).flatMap((name): T[] => {
    const peer: T = JSON.parse(readFileSync(path.join(folder, name), "utf8"));
    const command = peer.command.startsWith("$") ? process.env[peer.command.slice(1)] : inPath(peer.command);
    const parameters = peer.parameters.map((text) =>
      text.startsWith("$") ? (process.env[text.slice(1)] ?? "") : text,
    );
    return command && parameters.every((text) => text !== "") ? [{ ...peer, command, parameters }] : [];
  });
}

const inPath = (program: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(path.delimiter)
    .map((place) => path.join(place, program))
    .find((file) => existsSync(file));
