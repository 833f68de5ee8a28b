/** The commands about the memory index, as rows of the table. */
import { type CliCommand, type Define, json, yes } from "../command.ts";

export const memoryCommands = (define: Define): CliCommand[] => [
  define({
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
  define({
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
  define({
    usage: "keel memory stats [--json]",
    says: "What the memory index holds",
    options: json,
    load: async () => (await import("./memory.ts")).memoryStats,
  }),
  define({
    usage: "keel memory rebuild [--json]",
    says: "Makes the memory index anew from the logs; what was forgotten stays forgotten",
    options: json,
    unheard: "goes-on",
    load: async () => (await import("./memory.ts")).rebuildMemory,
  }),
];
