/** The file system as the engine sees it: every path is decided on the opened object, and failure is a sentence. */

import { closeSync, fstatSync, openSync, realpathSync } from "node:fs";
import { opendir } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../kernel/fault.ts";
import { no } from "../../kernel/result.ts";
import type { Files, PathFacts } from "../../ports/workspace.ts";
import { openParent, replaceFile } from "./atomic-write.ts";
import { allDisksHere } from "./disks.ts";
import { sayFileError } from "./file-errors.ts";
import { isKernelText, type Opened, readAtMost, readingFlags, realPathOf } from "./opened.ts";
import { locate, type WorkspaceRoots } from "./paths.ts";
import { Stamps } from "./stamps.ts";

type ReadOutcome = Awaited<ReturnType<Files["read"]>>;
type WriteOutcome = Awaited<ReturnType<Files["write"]>>;

/** How often a read starts anew when the file is replaced between looking and opening: editors do that all the time. */
const maxTries = 3;

/** What was described longer ago is looked at again: somebody was asked in between. */
const maxFreshMs = 1_000;

/** The boundary is where the session started: each root and cwd is resolved once, here, and not again. */
export function nodeFiles(given: WorkspaceRoots): Files {
  // What a link leads to when it is named counts: it may lead elsewhere later.
  const resolved = new Map<string, string>();
  const real = (folder: string): string => {
    const known = resolved.get(folder) ?? realDirectory(folder);
    resolved.set(folder, known);
    return known;
  };
  given.roots.forEach(real);
  const place: WorkspaceRoots = {
    cwd: realDirectory(given.cwd),
    get roots() {
      return given.roots.map(real);
    },
    own: (given.own ?? []).map(realDirectory),
    given: given.given,
    named: given.named,
    disksHere: allDisksHere(),
  };
  const stamps = new Stamps();
  // The file that was described last is read next, nearly always. Whether it is still there is seen when it is open.
  let described: { readonly name: string; readonly facts: PathFacts; readonly at: number } | undefined;
  const describe = async (name: string): Promise<PathFacts> => {
    const facts = await locate(name, place);
    described = { name, facts, at: performance.now() };
    return facts;
  };
  const known = (name: string): PathFacts | undefined => {
    const isFresh = described?.name === name && performance.now() - described.at < maxFreshMs;
    const facts = isFresh ? described?.facts : undefined;
    described = undefined;
    return facts?.kind === "file" && facts.problem === undefined ? facts : undefined;
  };
  return {
    describe,
    expand: async (pattern) => (await import("./expand.ts")).expandPattern(pattern, place.own ?? []),
    read: (name, limits) => readFile(name, { place, stamps, known: known(name), ...limits }),
    write: (name, bytes, basis) => writeFile(name, { place, stamps, bytes, basis }),
  };
}

type FileReadContext = {
  place: WorkspaceRoots;
  stamps: Stamps;
  maxBytes: number;
  known?: PathFacts | undefined;
};

async function readFile(given: string, from: FileReadContext): Promise<ReadOutcome> {
  for (let tries = 0; tries < maxTries; tries++) {
    const outcome = await readOnce(given, tries === 0 ? from : { ...from, known: undefined });
    if (outcome !== "moved") return outcome;
  }
  return no(`${given} was replaced while it was opened. Try again.`);
}

async function readOnce(
  given: string,
  { place, stamps, maxBytes, known }: FileReadContext,
): Promise<ReadOutcome | "moved"> {
  const facts = known ?? (await locate(given, place));
  const refused = await whyNotReadable(given, facts);
  if (refused !== undefined) return no(refused);
  let fd: number | undefined;
  try {
    // It was looked at a moment ago, so it is there: to wake a thread for it would take longer.
    fd = openSync(facts.path, readingFlags);
    return await readOpened({ fd }, { given, decided: facts.path, stamps, maxBytes });
  } catch (thrown) {
    // Gone, or become a link, since it was looked at.
    if (codeOf(thrown) === "ENOENT" || codeOf(thrown) === "ELOOP") return "moved";
    return no(sayFileError(thrown, given));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

type OpenedRead = Pick<FileReadContext, "stamps" | "maxBytes"> & { given: string; decided: string };

async function readOpened(
  file: Opened,
  { given, decided, stamps, maxBytes }: OpenedRead,
): Promise<ReadOutcome | "moved"> {
  // The kernel knows it of an open file; a thread would only make the answer wait.
  const stat = fstatSync(file.fd, { bigint: true });
  const real = await realPathOf(file, decided);
  const sizeBytes = Number(stat.size);
  if (!stat.isFile()) return no(notRegular(given));
  if (real !== decided) return "moved";
  if (sizeBytes === 0 && (await isKernelText(file))) return no(notRegular(given));
  const bytes = sizeBytes > maxBytes ? undefined : await readAtMost(file, { sizeBytes, maxBytes });
  if (!bytes)
    return no(`${given} is too large: ${sizeBytes} bytes, and at most ${maxBytes} are read at once.`);
  return { ok: true, file: { bytes, stamp: stamps.stampOf(bytes, stat), path: decided } };
}

async function whyNotReadable(given: string, facts: PathFacts): Promise<string | undefined> {
  if (facts.problem !== undefined) return facts.problem;
  if (facts.kind === "missing") return await sayMissing(given, facts.path);
  if (facts.kind === "directory") return `${given} is a directory, not a file.`;
  if (facts.kind === "other") return notRegular(given);
  return undefined;
}

async function sayMissing(given: string, missing: string): Promise<string> {
  const directory = path.dirname(missing);
  const names = await closestNames(directory, path.basename(missing));
  if (names === undefined) return `No such file: ${given}. The directory ${directory} does not exist either.`;
  if (names.length === 0) return `No such file: ${given} (looked in ${directory}).`;
  return `No such file: ${given}. In ${directory} there is ${names.join(", ")}.`;
}

type FileWriteContext = Pick<FileReadContext, "place" | "stamps"> & {
  bytes: Uint8Array;
  basis: { stamp: string | null } | undefined;
};

async function writeFile(
  given: string,
  { place, stamps, bytes, basis }: FileWriteContext,
): Promise<WriteOutcome> {
  const facts = await locate(given, place);
  if (facts.problem !== undefined) return no(facts.problem);
  if (facts.links) return no(`${given} leads through a link to ${facts.path}; write to that path itself.`);
  if (facts.kind === "directory") return no(`${given} is a directory, not a file.`);
  if (facts.kind === "other") return no(notRegular(given));
  const parent = await openParent(path.dirname(facts.path));
  if (!parent.ok) return no(parent.why);
  await using directory = parent.directory;
  const why = await replaceFile(directory, { name: path.basename(facts.path), bytes, basis, stamps });
  if (why === undefined) return { ok: true, stamp: stamps.ofBytes(bytes), path: facts.path };
  await directory.undo();
  return no(why);
}

const notRegular = (given: string): string =>
  `${given} is not a regular file (a pipe, a device, a socket or /proc).`;

function realDirectory(given: string): string {
  try {
    return realpathSync.native(given);
  } catch {
    // A root that does not exist yet has no links to resolve.
    return path.resolve(given);
  }
}

/** Names that are looked at, and told: a hint must not cost more than the work. */
const maxEntries = 2_000;
const maxTold = 5;
/** Half of the pairs of letters must agree. */
const minLikeness = 0.5;

/** Undefined when the directory cannot be listed. */
async function closestNames(directory: string, wanted: string): Promise<string[] | undefined> {
  const names = await namesIn(directory);
  if (!names) return undefined;
  const pairs = pairsOf(wanted);
  return names
    .map((name) => ({ name, score: likeness(pairs, pairsOf(name)) }))
    .filter(({ score }) => score >= minLikeness)
    .sort((left, right) => right.score - left.score)
    .slice(0, maxTold)
    .map(({ name }) => name);
}

async function namesIn(directory: string): Promise<string[] | undefined> {
  try {
    const names: string[] = [];
    for await (const entry of await opendir(directory)) {
      names.push(entry.name);
      if (names.length >= maxEntries) break;
    }
    return names;
  } catch {
    return undefined; // Missing or closed to us: either way there is nothing to suggest.
  }
}

/** The pairs of neighbouring letters, without case; the ends count as letters, so that short names have pairs too. */
function pairsOf(name: string): Set<string> {
  const text = ` ${name.toLowerCase()} `;
  return new Set(Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2)));
}

function likeness(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const common = left
    .values()
    .filter((pair) => right.has(pair))
    .toArray().length;
  return (2 * common) / (left.size + right.size);
}
