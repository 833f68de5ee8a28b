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

/** About what is on record: what was used and paid, who decided what, what was said. */
export const recordCommands = (command: Define): CliCommand[] => [
  command({
    usage: "keel usage [SESSION] [--project] [--days N] [--tools] [--json|--metrics]",
    says: "What a session cost, and how the cache served it; the newest if none is named",
    options: {
      ...json,
      metrics: { kind: "flag", says: "As counters, in the text that collectors of metrics read" },
      tools: {
        kind: "flag",
        says: "Which tools were called: how often, how long, what failed or was refused",
      },
      project: { kind: "flag", says: "All sessions of this folder" },
      days: {
        kind: "text",
        value: "N",
        says: "Those of the last N days, of every folder unless --project is given",
      },
    },
    load: async () => (await import("./usage.ts")).showUsage,
  }),
  command({
    usage: "keel audit [--session ID] [--tool NAME] [--outcome WORD] [--days N] [--limit N] [--json]",
    says: "What was asked, answered, allowed, refused and changed: the audit log",
    options: {
      json: { kind: "flag", says: "As lines of JSON, all of them" },
      session: { kind: "text", value: "ID", says: "Of this session, or of those whose ids begin so" },
      tool: { kind: "text", value: "NAME", says: "Only calls of this tool" },
      outcome: { kind: "text", value: "WORD", says: "allowed, denied, asked, done, failed …" },
      what: {
        kind: "text",
        value: "KIND",
        says: "Only of this kind, such as call.finished or settings.changed",
      },
      days: { kind: "text", value: "N", says: "Of the last N days" },
      limit: { kind: "text", value: "N", says: "The newest N; 100 when left out" },
    },
    load: async () => (await import("./audit.ts")).showAudit,
  }),
  command({
    usage: "keel memory search WORDS [--scope SCOPE] [--session ID] [--limit N] [--json]",
    says: "What earlier conversations and their tools said",
    options: {
      ...json,
      scope: {
        kind: "text",
        value: "SCOPE",
        says: "project (the default: this folder and those below), person (all of yours) or session",
      },
      session: { kind: "text", value: "ID", says: "Only in this session" },
      limit: { kind: "text", value: "N", says: "At most so many; 5 when left out" },
    },
    load: async () => (await import("./memory.ts")).searchMemory,
  }),
  command({
    usage: "keel memory forget [ID …] [--words TEXT | --session ID] [--yes] [--json]",
    says: "Leaves nothing of it in the index; its log stays, and says so",
    options: {
      ...json,
      ...yes,
      words: { kind: "text", value: "TEXT", says: "Every message that holds this text" },
      session: { kind: "text", value: "ID", says: "Everything of this session" },
    },
    unheard: "goes-on",
    load: async () => (await import("./memory.ts")).forgetMemory,
  }),
  command({
    usage: "keel memory stats [--json]",
    says: "What the memory index holds",
    options: json,
    load: async () => (await import("./memory.ts")).memoryStats,
  }),
  command({
    usage: "keel memory rebuild [--json]",
    says: "Makes the memory index anew from the logs; what was forgotten stays forgotten",
    options: json,
    unheard: "goes-on",
    load: async () => (await import("./memory.ts")).rebuildMemory,
  }),
];
