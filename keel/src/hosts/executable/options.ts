/**
 * The options of `keel --input-format stream-json`, where Keel is the executable of an SDK: those of `keel -p`, and those
 * that SDKs pass beside them. What is not in the table is passed over and told, since SDKs grow faster than executables.
 */
import { type Arguments, type CliOptions, namesOf, parseArguments } from "../cli/arguments.ts";
import { printOptions } from "../cli/print/print-options.ts";

export const wireOptions = {
  ...printOptions,
  "include-hook-events": { kind: "flag", says: "Also tell when hooks run" },
  "replay-user-messages": { kind: "flag", says: "Echo prompts as messages" },
  "permission-prompt-tool": {
    kind: "text",
    value: "NAME",
    says: "Who answers what would be asked: stdio for the SDK, or a tool of a server",
  },
  "permission-prompts": { kind: "text", value: "WHO", says: "none: whatever would be asked is refused" },
  "resume-session-at": { kind: "text", value: "UUID", says: "With --resume: go on from this message" },
  "no-session-persistence": { kind: "flag", says: "Keep nothing on disk" },
  effort: { kind: "text", value: "LEVEL", says: "low, medium, high, xhigh or max" },
  thinking: { kind: "text", value: "MODE", says: "adaptive or disabled" },
  betas: { kind: "list", value: "NAMES", says: "Features of the provider that are being tried" },
  "mcp-config": { kind: "list", value: "SERVERS", says: "Servers as JSON, inline or a file" },
  "strict-mcp-config": { kind: "flag", says: "Only the servers of --mcp-config" },
  agent: { kind: "text", value: "NAME", says: "Work as this kind of agent" },
  "await-initialize": { kind: "flag", says: "Open nothing before the SDK has introduced itself" },
  "session-mirror": { kind: "flag", says: "Also send the session as lines, for a store of the program" },
  "plugin-dir": { kind: "list", value: "FOLDER", says: "A plugin" },
  "plugin-dir-no-mcp": { kind: "list", value: "FOLDER", says: "A plugin without its servers" },
  "managed-settings": { kind: "text", value: "SETTINGS", says: "What the host forbids, as JSON" },
  "project-config-root": { kind: "text", value: "FOLDER", says: "Whose project settings count" },
} as const satisfies CliOptions;

/** Known to SDKs and harmless to leave out: what they ask for is on anyway, or belongs to somebody else's services. */
const withoutEffect = {
  debug: "flag",
  "debug-to-stderr": "flag",
  "debug-file": "text",
  "thinking-display": "text",
  "task-budget": "text",
  "resume-drops-turn": "text",
} as const satisfies Readonly<Record<string, "flag" | "text">>;

/** Only for these is a word said: somebody who sets them relies on them. */
const missed = ["task-budget"];

export type WireValues = Arguments<typeof wireOptions>["values"];

export type WireArguments = {
  readonly values: WireValues;
  /** Options that have no effect here, as they were given. */
  readonly passedOver: readonly string[];
};

/** Throws a usage fault for a known option without its value. */
export function readWireArguments(given: readonly string[]): WireArguments {
  const names = namesOf(wireOptions);
  const known: string[] = [];
  const passedOver: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? "";
    const [, spelling = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const name = names.get(spelling);
    if (name !== undefined) {
      known.push(word);
      const { kind } = wireOptions[name as keyof typeof wireOptions];
      const value = given[at + 1];
      if (kind === "flag" || inline !== undefined || value === undefined) continue;
      known.push(value);
      at += 1;
      continue;
    }
    const kind = kindWithoutEffect(spelling);
    const next = given[at + 1];
    const takesNext =
      inline === undefined &&
      next !== undefined &&
      (kind === "text" || (kind === undefined && word.startsWith("-") && !next.startsWith("-")));
    if (takesNext) at += 1;
    if (kind === undefined || missed.includes(spelling.slice(2))) passedOver.push(spelling);
  }
  return { values: parseArguments(known, wireOptions).values, passedOver };
}

function kindWithoutEffect(spelling: string): "flag" | "text" | undefined {
  const name = spelling.slice(2);
  return Object.hasOwn(withoutEffect, name) ? withoutEffect[name as keyof typeof withoutEffect] : undefined;
}
