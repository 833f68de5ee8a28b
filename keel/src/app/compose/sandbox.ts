/** A sandbox for commands, which Keel has not: whoever wants one must not believe that it is there. */
import type { JudgedEntry } from "../../config/settings/entries.ts";
import { fault } from "../../kernel/fault.ts";
import type { LogNotice } from "../../ports/store.ts";

/** Throws `usage` where nothing is to start without one. A wish counts from every source: none can take it back. */
export function sandboxNotices(entries: readonly JudgedEntry[]): LogNotice[] {
  const isWished = (name: string): boolean =>
    entries.some(
      ({ path, value, state }) =>
        path.join(".") === `sandbox.${name}` && value === true && state.kind !== "left-out",
    );
  if (!isWished("enabled")) return [];
  if (isWished("failIfUnavailable"))
    throw fault("usage", {
      reason: `A sandbox is wanted and must not be missing, and Keel has none. ${instead}`,
    });
  return [
    {
      level: "warning",
      text: `COMMANDS ARE NOT CONFINED: the sandbox that is wanted has no effect. ${instead}`,
    },
  ];
}

const instead =
  "Permission rules and modes decide about every command; run Keel in a container to confine them. `sandbox.enabled: false` takes the wish back.";
