/** The commands about what is on record: what was used and paid, who decided what, what was said. */
import { type CliCommand, type Define, json, yes } from "../command.ts";

export const recordCommands = (command: Define): readonly CliCommand[] => [
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
