/** Files in memory. There are no links, and a directory is there as long as something is in it. */
import { createHash } from "node:crypto";
import path from "node:path/posix";
import { globMatcher } from "../kernel/glob.ts";
import { isInside } from "../kernel/path.ts";
import type { Files, FoundName, PathFacts } from "../ports/workspace.ts";

type MemoryFilesOptions = {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly note: (effect: string) => void;
};

export class MemoryFiles implements Files {
  readonly #place: MemoryFilesOptions;
  readonly #contents = new Map<string, Uint8Array>();

  constructor(place: MemoryFilesOptions) {
    this.#place = place;
  }

  async describe(name: string): Promise<PathFacts> {
    const full = this.#resolve(name);
    const kind = this.#kindOf(full);
    const facts = { path: full, exists: kind !== "missing", kind, links: false };
    // A name with a NUL byte means different things to different readers: it lies nowhere.
    if (full.includes("\0")) return { ...facts, root: undefined, problem: "The path holds a NUL byte." };
    return { ...facts, root: this.#place.roots.find((root) => isInside(full, [root])) };
  }

  async expand(pattern: string): Promise<readonly FoundName[]> {
    // A double star stands for one folder here, as it does in bash.
    const glob = path.normalize(pattern).slice(1).replaceAll(/\*+/g, "*");
    const mayBeHidden = glob.split("/").map((name) => name.startsWith("."));
    const fits = globMatcher([glob]);
    const names = new Set(this.inOrder().flatMap((name) => [name, ...foldersAbove(name)]));
    const found = [...names].filter(
      (name) =>
        fits(name.slice(1)) &&
        name
          .slice(1)
          .split("/")
          .every((part, at) => !part.startsWith(".") || mayBeHidden[at]),
    );
    return found.map((name) => ({ path: name, isPlain: true }));
  }

  async read(name: string, { maxBytes }: { maxBytes: number }): ReturnType<Files["read"]> {
    const full = this.#resolve(name);
    const bytes = this.#contents.get(full);
    if (!bytes)
      return {
        ok: false,
        why: this.#kindOf(full) === "directory" ? `${full} is a directory.` : noFile(full),
      };
    if (bytes.length > maxBytes) return { ok: false, why: `${full} is larger than ${maxBytes} bytes.` };
    return { ok: true, file: { bytes: bytes.slice(), stamp: stampOf(bytes), path: full } };
  }

  async write(name: string, bytes: Uint8Array, basis?: { stamp: string | null }): ReturnType<Files["write"]> {
    const full = this.#resolve(name);
    if (this.#kindOf(full) === "directory") return { ok: false, why: `${full} is a directory.` };
    const blocking = this.#fileAbove(full);
    if (blocking) return { ok: false, why: `${blocking} is not a directory.` };
    const current = this.stamp(full);
    if (basis && basis.stamp !== current) return { ok: false, why: `${full} was changed in the meantime.` };
    this.#keep(full, bytes.slice());
    this.#place.note(`write ${full}`);
    return { ok: true, stamp: stampOf(bytes), path: full };
  }

  /** Puts a file there as somebody else would: it is not an effect of the session. */
  put(name: string, content: string | Uint8Array): void {
    this.#keep(this.#resolve(name), typeof content === "string" ? Buffer.from(content) : content.slice());
  }

  delete(name: string): void {
    this.#contents.delete(this.#resolve(name));
  }

  text(name: string): string | undefined {
    const bytes = this.#contents.get(this.#resolve(name));
    return bytes && new TextDecoder().decode(bytes);
  }

  stamp(name: string): string | null {
    const bytes = this.#contents.get(this.#resolve(name));
    return bytes ? stampOf(bytes) : null;
  }

  /** Path to text, sorted: what a test compares. */
  all(): Record<string, string> {
    const paths = [...this.#contents.keys()].sort();
    return Object.fromEntries(paths.map((name) => [name, this.text(name) ?? ""]));
  }

  /** The paths of all files, the one that was written last at the end. */
  inOrder(): string[] {
    return [...this.#contents.keys()];
  }

  #keep(full: string, bytes: Uint8Array): void {
    this.#contents.delete(full);
    this.#contents.set(full, bytes);
  }

  #resolve(name: string): string {
    return path.resolve(this.#place.cwd, name);
  }

  #kindOf(full: string): "file" | "directory" | "missing" {
    if (this.#contents.has(full)) return "file";
    const holdsFiles = this.#contents.keys().some((other) => isInside(other, [full]));
    return holdsFiles || [this.#place.cwd, ...this.#place.roots].includes(full) ? "directory" : "missing";
  }

  #fileAbove(full: string): string | undefined {
    return this.#contents.keys().find((other) => other !== full && isInside(full, [other]));
  }
}

const noFile = (full: string): string => `No such file: ${full}`;

const stampOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

function foldersAbove(name: string): string[] {
  const above = path.dirname(name);
  return above === name ? [] : [above, ...foldersAbove(above)];
}
