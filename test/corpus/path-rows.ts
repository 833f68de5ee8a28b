// The rows of the path corpus, and the places that they talk about.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../corpora");

export type Step = {
  readonly file?: string;
  readonly content?: string;
  readonly mkdir?: string;
  readonly symlink?: string;
  readonly hardlink?: string;
  readonly to?: string;
  readonly fifo?: string;
  readonly socket?: string;
  readonly chmod?: string;
  readonly mode?: string;
  readonly sparse?: string;
  readonly random?: string;
  readonly bytes?: number;
};

export type Row = {
  readonly id: string;
  readonly tool: string;
  readonly path: string;
  readonly pattern?: string;
  readonly expect: string;
  readonly why: string;
  readonly class: string;
  readonly setup: readonly Step[];
  readonly between?: readonly Step[];
  readonly rules: readonly string[];
  readonly extraDirs: readonly string[];
  readonly cwd?: string;
  readonly race?: { readonly swap: string; readonly with: string; readonly tries: number };
  readonly maxMs?: number;
  readonly maxRssMb?: number;
  readonly needsNonRoot?: boolean;
  readonly unchanged?: readonly string[];
  readonly mustNotExist?: readonly string[];
  readonly mustNotList?: readonly string[];
  readonly mustNotReturn?: readonly string[];
  readonly stillSymlink?: readonly string[];
};

export function readPathRows(): Row[] {
  return fs
    .globSync("path-*.jsonl", { cwd: folder })
    .sort()
    .flatMap((name) => fs.readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean))
    .map((line): Row => JSON.parse(line));
}

export type World = {
  readonly base: string;
  readonly project: string;
  /** A text of the corpus with its places filled in. */
  fill(text: string): string;
  close(): Promise<void>;
};

/** Everything that a row names, in a fresh directory. */
export async function makeWorld(row: Row): Promise<World> {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), "keel-path-")));
  const place = (name: string): string => path.join(base, name);
  const places: Readonly<Record<string, string>> = {
    P: place("project"),
    PBASE: "project",
    O: place("outside"),
    O2: place("outside-too"),
    H: place("home"),
    L: place("link-to-project"),
    TMP: place("tmp"),
    CFG: ".keel",
    CFG_UPPER: ".KEEL",
  };
  for (const name of ["P", "O", "O2", "H", "TMP"]) fs.mkdirSync(places[name] ?? base);
  const fill = (text: string): string =>
    text.replace(/\{([A-Z_0-9]+)\}/g, (whole, name) => places[name] ?? whole);
  const closers: (() => Promise<void>)[] = [];
  for (const step of row.setup) await doStep(step, { fill, closers });
  return {
    base,
    project: place("project"),
    fill,
    async close() {
      for (const close of closers) await close();
      fs.rmSync(base, { recursive: true, force: true });
    },
  };
}

type Doing = { readonly fill: (text: string) => string; readonly closers?: (() => Promise<void>)[] };

export async function doStep(step: Step, { fill, closers = [] }: Doing): Promise<void> {
  const at = (text: string | undefined): string => fill(text ?? "");
  const make = (text: string | undefined): string => {
    fs.mkdirSync(path.dirname(at(text)), { recursive: true });
    return at(text);
  };
  if (step.file !== undefined) return fs.writeFileSync(make(step.file), step.content ?? "");
  if (step.mkdir !== undefined) return void fs.mkdirSync(at(step.mkdir), { recursive: true });
  if (step.symlink !== undefined) return fs.symlinkSync(at(step.to), make(step.symlink));
  if (step.hardlink !== undefined) return fs.linkSync(at(step.to), make(step.hardlink));
  if (step.chmod !== undefined) return fs.chmodSync(at(step.chmod), Number.parseInt(step.mode ?? "644", 8));
  if (step.fifo !== undefined) return void execFileSync("mkfifo", [make(step.fifo)]);
  if (step.random !== undefined) return fs.writeFileSync(make(step.random), randomBytes(step.bytes ?? 0));
  if (step.sparse !== undefined) {
    fs.writeFileSync(make(step.sparse), "");
    return fs.truncateSync(at(step.sparse), step.bytes ?? 0);
  }
  if (step.socket !== undefined) return listen(make(step.socket), closers);
  throw new Error(`No such step is known: ${JSON.stringify(step)}`);
}

async function listen(place: string, closers: (() => Promise<void>)[]): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(place, resolve));
  closers.push(() => new Promise((resolve) => server.close(() => resolve())));
}
