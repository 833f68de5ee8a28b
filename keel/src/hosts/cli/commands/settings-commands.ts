/** The rows of `keel config`, `keel trust` and `keel permissions` in the table of commands. */
import { type CliCommand, type Define, json, targetOptions, yes } from "../command.ts";

export const settingsCommands = (command: Define): readonly CliCommand[] => [
  command({
    usage: "keel config list [--origin] [--json]",
    says: "The settings in force",
    options: {
      ...json,
      origin: { kind: "flag", says: "Every value with its file, also those that do not count" },
    },
    load: async () => (await import("./config.ts")).list,
  }),
  command({
    usage: "keel config get KEY [--json]",
    says: "One setting by its name: permissions.defaultMode",
    options: json,
    load: async () => (await import("./config.ts")).get,
  }),
  command({
    usage: "keel config set KEY VALUE [--user|--project|--local]",
    says: "Sets it, and keeps the comments of the file",
    options: targetOptions,
    load: async () => (await import("./config.ts")).set,
  }),
  command({
    usage: "keel config unset KEY [--user|--project|--local]",
    says: "Removes it",
    options: targetOptions,
    load: async () => (await import("./config.ts")).unset,
  }),
  command({
    usage: "keel config schema",
    says: "Every setting as JSON Schema, for editors",
    load: async () => (await import("./config.ts")).schema,
  }),
  command({
    usage: "keel trust [FOLDER] [--yes]",
    says: "Shows what trusting a project would enable, and asks",
    options: yes,
    unheard: "goes-on",
    load: async () => (await import("./trust.ts")).trust,
  }),
  command({
    usage: "keel trust status [FOLDER] [--json]",
    says: "Whether a project is trusted, and what that enables",
    options: json,
    load: async () => (await import("./trust.ts")).status,
  }),
  command({
    usage: "keel trust list [--json]",
    says: "The projects that are trusted",
    options: json,
    load: async () => (await import("./trust.ts")).list,
  }),
  command({
    usage: "keel trust add [FOLDER] [--yes]",
    says: "Trusts a project and what it has now",
    options: yes,
    unheard: "goes-on",
    load: async () => (await import("./trust.ts")).add,
  }),
  command({
    usage: "keel trust remove [FOLDER]",
    says: "Takes the trust back",
    load: async () => (await import("./trust.ts")).remove,
  }),
  command({
    usage: "keel permissions list [--json]",
    says: "The permission rules of every source",
    options: json,
    load: async () => (await import("./permissions.ts")).list,
  }),
  command({
    usage: "keel permissions add RULE [--deny|--ask] [--user|--project|--local]",
    says: "Adds a rule that allows, or one that denies or asks",
    options: {
      deny: { kind: "flag", says: "What never runs" },
      ask: { kind: "flag", says: "What is asked every time" },
      ...targetOptions,
    },
    load: async () => (await import("./permissions.ts")).add,
  }),
  command({
    usage: "keel permissions remove RULE [--user|--project|--local]",
    says: "Removes a rule; from every file that has it when none is named",
    options: targetOptions,
    load: async () => (await import("./permissions.ts")).remove,
  }),
  command({
    usage: "keel permissions test [FILE] [--json]",
    says: "Holds rules against what a file expects; .keel/permissions.test when none is named",
    options: json,
    load: async () => (await import("./permissions.ts")).test,
  }),
  command({
    usage: "keel permissions backtest [--rules FILE] [--mode MODE] [--sessions ID,…] [--all] [--json]",
    says: "Tries rules on the calls of kept sessions. Nothing runs",
    options: {
      ...json,
      rules: { kind: "text", says: "A settings file in place of the rules in force" },
      mode: { kind: "text", says: "In place of the mode that each call was decided in" },
      sessions: { kind: "text", says: "Only these, by their ids, with commas between them" },
      all: { kind: "flag", says: "The sessions of every folder, not of this one alone" },
    },
    load: async () => (await import("./backtest.ts")).backtest,
  }),
  command({
    usage: "keel permissions explain [--with-settings] [--json] (--batch | --session ID [CALL] | -- COMMAND)",
    says: "What would be, or was, decided about a call, and why. Nothing runs",
    options: {
      ...json,
      session: {
        kind: "text",
        says: "What the decisions of a kept session rested on; all, or that of one call",
      },
      batch: { kind: "flag", says: "Questions as JSON lines on standard input, answers likewise" },
      "with-settings": { kind: "flag", says: "Lay it over the settings in force; otherwise none are read" },
    },
    load: async () => (await import("./permissions.ts")).explain,
  }),
];
