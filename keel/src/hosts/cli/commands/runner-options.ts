/** The options of `keel runner`, as data. A host may say the same in a first line: see `--start-from-input`. */
import type { CliOptions, OptionValues } from "../arguments.ts";

export const runnerOptions = {
  cwd: { kind: "text", value: "DIR", says: "The folder to work in" },
  "conversation-id": { kind: "text", value: "ID", says: "Stands on every event; default when left out" },
  resume: { kind: "text", value: "ID", says: "Go on with this session" },
  fork: { kind: "flag", says: "With --resume: go on in a copy" },
  "linear-issue": { kind: "text", value: "ID", says: "The issue that the work is about" },
  "target-branch": { kind: "text", value: "BRANCH", says: "The branch that the work will join" },
  "tool-preset": {
    kind: "text",
    value: "PRESET",
    says: "full (the default), read-only, no-bash or safe-edit",
  },
  "enable-checkpointing": { kind: "flag", says: "Keep files before they change, for rewind_files" },
  "structured-output": { kind: "text", value: "JSON", says: "A JSON Schema for the answer" },
  "max-budget-usd": { kind: "text", value: "USD", says: "Stop when the session has cost this much" },
  "max-turns": { kind: "text", value: "N", says: "Most replies of the model to one message" },
  "max-thinking-tokens": { kind: "text", value: "N", says: "Most tokens of thinking for each reply" },
  "permission-mode": {
    kind: "text",
    value: "MODE",
    says: "default (the default), acceptEdits, plan, dontAsk, auto or bypassPermissions",
  },
  "allow-dangerously-skip-permissions": { kind: "flag", says: "Allow the mode bypassPermissions" },
  "setting-sources": { kind: "list", value: "NAMES", says: "Which settings are read: user, project, local" },
  betas: { kind: "list", value: "NAMES", says: "Taken for compatibility, and without effect" },
  model: { kind: "text", value: "NAME", says: "A model or an alias" },
  "fallback-model": { kind: "text", value: "NAMES", says: "Models to try when the first one is overloaded" },
  "instructions-file": { kind: "text", value: "FILE", says: "A text that is added to the system prompt" },
  "mcp-servers-file": { kind: "text", value: "FILE", says: "MCP servers of the host, as JSON" },
  "allowed-tools": { kind: "list", value: "RULES", says: "What runs without a question" },
  "disallowed-tools": { kind: "list", value: "RULES", says: "What never runs" },
  "sdk-debug": { kind: "flag", says: "Repeat every event on standard error" },
  "sdk-debug-file": { kind: "text", value: "FILE", says: "Repeat every event in a file" },
  "start-from-input": {
    kind: "flag",
    says: "The first line says how to start: nothing secret stands in the arguments",
  },
  schema: { kind: "flag", says: "Print the JSON Schema of every line, and end" },
} as const satisfies CliOptions;

export type RunnerValues = OptionValues<typeof runnerOptions>;
