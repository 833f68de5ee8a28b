/**
 * What a program inside finds as its file system, step by step: the machine read-only, folders of work writable, secrets
 * covered, what others run read-only again. Looked at anew for every program, since files come and go; the same steps
 * mean the same place. Mounts go only onto canonical paths that exist: what passes a link is left out and told.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import path from "node:path";
import { isInside } from "../../kernel/path.ts";
import type { Confinement } from "../../ports/sandbox.ts";

export type MountStep =
  /** A folder or file of the new root itself. */
  | { readonly do: "folder" | "file"; readonly at: string }
  | { readonly do: "link"; readonly at: string; readonly to: string }
  | {
      readonly do: "bind";
      readonly from: string;
      readonly at: string;
      readonly flags: readonly string[];
      /** Which object it was when somebody looked. */
      readonly stamp: string;
    }
  /** What came along with a bind and has its own flags. */
  | { readonly do: "flags"; readonly at: string; readonly flags: readonly string[] }
  | { readonly do: "empty"; readonly at: string; readonly mode: string }
  /** A file that nobody can read. */
  | { readonly do: "cover"; readonly at: string; readonly stamp: string }
  | { readonly do: "scratch"; readonly at: string };

export type MountPlan = {
  readonly steps: readonly MountStep[];
  /** Folders that have to be made first, empty, so that nobody inside can make something else of them. */
  readonly missing: readonly string[];
  /** What was to be kept from writers and cannot be: a link stands there. */
  readonly unguarded: readonly string[];
};

export type PlanContext = {
  /** A folder outside that is the same inside. */
  readonly exchange: string;
  /** Folders that were made for an earlier plan: they count as missing for as long as they are empty. */
  readonly made: ReadonlyMap<string, string>;
  /** Sockets in the file system that somebody listens at. */
  readonly sockets: readonly string[];
};

/** What is made anew inside: nothing of the machine's own is seen there. */
const ownPlaces = ["/proc", "/sys", "/dev", "/tmp", "/var/tmp", "/run"];
/** Of these, what folders of work may stand in. */
const unseen = ["/tmp", "/var/tmp", "/run"];
/** What programs may know of the machine they run on. */
const machineFacts = "/sys/devices";

export function planMounts(wanted: Confinement, context: PlanContext): MountPlan {
  const mounts = mountTable();
  const flagsAt = (place: string, write: "ro" | "rw"): readonly string[] => [
    write,
    "nosuid",
    "nodev",
    ...lockedFlags(mounts, place),
  ];
  const steps: MountStep[] = topLevel();
  const bind = (from: string, write: "ro" | "rw"): void => {
    const found = look(from);
    if (!found) return;
    steps.push({ do: "bind", from, at: from, flags: flagsAt(from, write), stamp: stampOf(found) });
    for (const { at, flags } of mounts) {
      const isBelow =
        at !== from && isInside(at, [from]) && !isInside(at, ownPlaces) && look(at) !== undefined;
      if (isBelow) steps.push({ do: "flags", at, flags: merged(flags, write) });
    }
  };
  for (const step of steps.slice()) if (step.do === "folder") bind(step.at, "ro");
  for (const place of ["/tmp", "/run"]) steps.push({ do: "folder", at: place });
  steps.push({ do: "empty", at: "/tmp", mode: "1777" }, { do: "empty", at: "/run", mode: "755" });
  if (look("/var/tmp")?.isDirectory()) steps.push({ do: "empty", at: "/var/tmp", mode: "1777" });
  steps.push({ do: "folder", at: "/sys" });
  if (look(machineFacts)) {
    steps.push({ do: "folder", at: machineFacts });
    bind(machineFacts, "ro");
  }
  for (const place of wanted.scratch)
    if (look(place)?.isDirectory() && isPlain(place)) steps.push({ do: "scratch", at: place });
  const given = wanted.writable.filter((place) => !wanted.unwritable.includes(place));
  const writable = [...new Set([...given, context.exchange])].filter(isPlain).toSorted();
  const isAround = (place: string): boolean => writable.some((inner) => isInside(inner, [place]));
  const hide = (place: string): void => cover(place, { steps, writable, readable: wanted.readable });
  for (const place of wanted.unreadable) if (isAround(place)) hide(place);
  for (const place of writable) {
    const isHidden = isInside(place, [...unseen, ...wanted.unreadable]);
    if (isHidden) steps.push({ do: "folder", at: place });
    bind(place, "rw");
  }
  const guarded = guardedIn(writable, wanted.unwritable, context);
  for (const place of guarded.pinned) bind(place, "rw");
  for (const place of guarded.kept) bind(place, "ro");
  for (const place of wanted.unreadable) if (!isAround(place)) hide(place);
  for (const place of wanted.readable.filter(isPlain)) {
    if (!isInside(place, [...unseen, ...wanted.unreadable])) continue;
    steps.push({ do: "folder", at: place });
    bind(place, "ro");
  }
  // A socket outside is a way out of every namespace.
  const isOpen = (socket: string): boolean =>
    wanted.unixSockets === "all" || wanted.unixSockets.includes(socket);
  for (const socket of context.sockets) if (!isOpen(socket)) hide(socket);
  if (wanted.unixSockets !== "all") for (const socket of wanted.unixSockets) lend(socket, steps);
  for (const place of lentTo(wanted)) lend(place, steps);
  return { steps, missing: guarded.missing, unguarded: guarded.unguarded };
}

/** The bridge runs on Keel's own Node, which somebody may have installed where nothing is seen inside. */
const lentTo = ({ egress }: Confinement): string[] => {
  if (!egress) return [];
  const program = isInside(process.execPath, unseen) ? [process.execPath] : [];
  return [egress.httpSocket, egress.socksSocket, ...egress.files, ...program];
};

/** Where a plan mounts something: whoever carried it out can be asked whether it stands there. */
export const mountPoints = ({ steps }: MountPlan): readonly string[] =>
  steps.flatMap((step) =>
    step.do === "bind" || step.do === "empty" || step.do === "cover" || step.do === "scratch"
      ? [step.at]
      : [],
  );

/** What stands at the root of the machine; folders of it are bound, each for itself. */
function topLevel(): MountStep[] {
  return readdirSync("/").flatMap((name): MountStep[] => {
    const at = `/${name}`;
    const found = look(at);
    if (found?.isSymbolicLink()) return [{ do: "link", at, to: readlinkSync(at) }];
    return found?.isDirectory() && !ownPlaces.includes(at) ? [{ do: "folder", at }] : [];
  });
}

/** A socket that may be used although the folder that it stands in is not seen. */
function lend(socket: string, steps: MountStep[]): void {
  const found = look(socket);
  if (!found || !isPlain(socket)) return;
  if (isInside(socket, unseen))
    steps.push({ do: "folder", at: path.dirname(socket) }, { do: "file", at: socket });
  steps.push({
    do: "bind",
    from: socket,
    at: socket,
    flags: ["ro", "nosuid", "nodev"],
    stamp: stampOf(found),
  });
}

/** Nothing of it is seen: an empty folder or file that cannot be read is in its place. */
function cover(
  place: string,
  { steps, writable, readable }: { steps: MountStep[] } & Pick<Confinement, "writable" | "readable">,
): void {
  const real = realOf(place);
  const found = real === undefined ? undefined : look(real);
  if (real === undefined || !found) return;
  // Nothing of it is seen anyway, unless it comes with a folder that is.
  const above = steps.findLast(
    (step) => (step.do === "empty" || step.do === "bind") && isInside(real, [step.at]),
  );
  if (above?.do === "empty") return;
  if (isInside(real, ["/proc", "/sys", "/dev"])) return;
  const isPassed = [...readable, ...writable].some((inner) => isInside(inner, [real]));
  if (found.isDirectory()) steps.push({ do: "empty", at: real, mode: isPassed ? "711" : "000" });
  else steps.push({ do: "cover", at: real, stamp: stampOf(found) });
}

/**
 * What is unwritable within what is writable. Every folder on the way to it becomes a mount of its own: who could rename
 * one would have a free way to its old name.
 */
function guardedIn(writable: readonly string[], unwritable: readonly string[], { made }: PlanContext) {
  const pinned = new Set<string>();
  const kept = new Set<string>();
  const missing: string[] = [];
  const unguarded: string[] = [];
  const pin = (place: string, root: string): void => {
    for (let at = path.dirname(place); at !== root && isInside(at, [root]); at = path.dirname(at))
      pinned.add(at);
  };
  for (const place of unwritable) {
    const root = writable.findLast((each) => place !== each && isInside(place, [each]));
    if (root === undefined) continue;
    const found = look(place);
    const isOurs = found !== undefined && made.get(place) === stampOf(found) && isEmpty(place);
    if (found && !isOurs) {
      if (!isPlain(place)) unguarded.push(place);
      else {
        kept.add(place);
        pin(place, root);
      }
    } else if (isPlain(path.dirname(place)) && look(path.dirname(place))?.isDirectory()) {
      missing.push(place);
      pin(place, root);
    }
  }
  const sorted = [...pinned].filter((at) => !isInside(at, [...kept])).toSorted();
  return { pinned: sorted, kept: [...kept].toSorted(), missing, unguarded };
}

type Mount = { readonly at: string; readonly flags: readonly string[] };

/** Flags that whoever has fewer rights may not take away again. */
const locked = ["nosuid", "nodev", "noexec"];

function mountTable(): Mount[] {
  return readMounts("/proc/self/mountinfo").map(({ at, flags }) => ({
    at,
    flags: flags.filter((flag) => flag === "ro" || locked.includes(flag)),
  }));
}

export function readMounts(table: string): Mount[] {
  return readFileSync(table, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, , , , at = "", flags = ""] = line.split(" ");
      return { at: at.replaceAll(/\\(\d{3})/g, (_, octal) => byteOf(octal)), flags: flags.split(",") };
    });
}

const byteOf = (octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));

/** Of the mount that a path lies in. */
function lockedFlags(mounts: readonly Mount[], place: string): readonly string[] {
  const above = mounts
    .filter(({ at }) => isInside(place, [at]))
    .toSorted((a, b) => b.at.length - a.at.length);
  return (above[0]?.flags ?? []).filter((flag) => flag === "noexec");
}

const merged = (flags: readonly string[], write: "ro" | "rw"): readonly string[] => [
  ...new Set([
    write === "ro" || flags.includes("ro") ? "ro" : "rw",
    "nosuid",
    "nodev",
    ...flags.filter((flag) => flag === "noexec"),
  ]),
];

function look(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined; // Who may not look at it cannot use it inside either.
  }
}

function realOf(place: string): string | undefined {
  try {
    return realpathSync.native(place);
  } catch {
    return undefined;
  }
}

const isPlain = (place: string): boolean => realOf(place) === place;

export const stampOf = ({ dev, ino }: Pick<Stats, "dev" | "ino">): string => `${dev}:${ino}`;

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}
