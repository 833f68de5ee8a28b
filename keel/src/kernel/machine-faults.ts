/** Faults of this machine: a part of the one table in `faults.ts`. */

export const machineFaults = (exits: Readonly<Record<"turnFailed" | "setUp", number>>) =>
  ({
    sandbox_unavailable: {
      says: "Commands cannot be confined here: {reason}.",
      hint: "`keel doctor` says what the sandbox can do on this machine; `sandbox.enabled` turns it off.",
      exit: exits.setUp,
    },
    descriptors_used_up: {
      says: "{program} could not be started: too many files are open.",
      hint: "Raise the limit of open files (`ulimit -n`), or end what holds them.",
      exit: exits.turnFailed,
    },
    files_used_up: {
      says: "Too many files are open: {reason}",
      hint: "Raise the limit of open files (`ulimit -n`), or end what holds them; then go on with `keel --continue`.",
      exit: exits.turnFailed,
    },
  }) as const;
