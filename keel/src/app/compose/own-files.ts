/**
 * Keel's own folder as a session sees it: outside, whatever the roots are. Except what it was given by name, to be read:
 * its own output and that of its agents, and the folders of skills, commands and agents that it has.
 */
import path from "node:path";
import { realOf } from "../../config/settings/project-root.ts";
import { isInside } from "../../kernel/path.ts";

export type OwnFiles = {
  /** Without links in its path. */
  readonly folder: string;
  /** The place that a path of it was given with, or undefined. */
  given(path: string): string | undefined;
  /** Where its output goes: what it may read of its own. */
  outputs(): readonly string[];
  /** The log that the session writes: what stands beside it is the session's. */
  follow(log: string | undefined): void;
  /** Folders that hold files which the session can call; those elsewhere are left to policy. */
  lend(folders: () => readonly string[]): void;
};

export function ownFiles(home: string): OwnFiles {
  const folder = realOf(home);
  // The home may be named through a link; paths are compared where they lead.
  const real = (place: string): string[] =>
    isInside(place, [home])
      ? [path.join(folder, path.relative(home, place))]
      : isInside(place, [folder])
        ? [place]
        : [];
  let beside: string | undefined;
  let lent: () => readonly string[] = () => [];
  return {
    folder,
    given(target) {
      const output = beside === undefined ? undefined : outputOf(target, beside);
      return (
        output ??
        lent()
          .flatMap(real)
          .find((place) => isInside(target, [place]))
      );
    },
    outputs: () => [...(beside === undefined ? [] : [path.join(beside, "output")]), ...lent().flatMap(real)],
    follow(log) {
      beside = log === undefined ? undefined : real(log.replace(/\.jsonl$/, ""))[0];
    },
    lend(folders) {
      lent = folders;
    },
  };
}

/** `output` beside the session's log, or beside that of an agent of it, at any depth. */
function outputOf(target: string, beside: string): string | undefined {
  if (!isInside(target, [beside])) return undefined;
  const inner = /^(?:agents\/[^/]+\/)*output(?=\/|$)/.exec(path.relative(beside, target))?.[0];
  return inner === undefined ? undefined : path.join(beside, inner);
}
