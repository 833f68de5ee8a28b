/** The options of `keel -p`, as data: the parser and the help both read this table. */
import type { CliOptions, OptionValues } from "../arguments.ts";

export const printOptions = {
  print: { kind: "flag", short: "p", says: "Answer the prompt, print the result and end" },
  "output-format": { kind: "text", value: "FORMAT", says: "text (the default), json or stream-json" },
  "input-format": {
    kind: "text",
    value: "FORMAT",
    says: "text (the default), or stream-json, for an SDK that sends lines",
  },
  "include-partial-messages": { kind: "flag", says: "With stream-json: also what arrives piece by piece" },
  verbose: { kind: "flag", says: "Say more on standard error" },
  resume: {
    kind: "text",
    short: "r",
    value: "ID",
    says: "Go on with this session; without a prompt, with its unfinished turn",
  },
  continue: { kind: "flag", short: "c", says: "Go on with the newest session of this folder" },
  fork: { kind: "flag", aliases: ["fork-session"], says: "With --resume or --continue: go on in a copy" },
  "session-id": { kind: "text", value: "UUID", says: "The id of the new session" },
  model: { kind: "text", short: "m", value: "NAME", says: "A model or an alias (sonnet, opus, haiku)" },
  "fallback-model": { kind: "list", value: "NAMES", says: "Models to try when the first one is overloaded" },
  "max-turns": { kind: "text", value: "N", says: "Most replies of the model; 1 means one" },
  "max-budget-usd": { kind: "text", value: "USD", says: "Stop when the session has cost this much" },
  "max-thinking-tokens": {
    kind: "text",
    value: "N",
    says: "Most tokens of thinking for each reply; 0 for none",
  },
  "system-prompt": { kind: "text", value: "TEXT", says: "In place of Keel's own prompt" },
  "append-system-prompt": { kind: "text", value: "TEXT", says: "After Keel's own prompt" },
  "permission-mode": {
    kind: "text",
    value: "MODE",
    says: "default, acceptEdits, plan, dontAsk, auto or bypassPermissions",
  },
  tools: {
    kind: "list",
    value: "NAMES",
    says: "Only these built-in tools; default for all, an empty value for none",
  },
  "tool-preset": {
    kind: "text",
    value: "PRESET",
    says: "full (the default), read-only, no-bash, safe-edit or coordinator",
  },
  "allowed-tools": {
    kind: "list",
    aliases: ["allowedTools"],
    value: "RULES",
    says: "What runs without a question: Read, Bash(git log:*)",
  },
  "disallowed-tools": {
    kind: "list",
    aliases: ["disallowedTools"],
    value: "RULES",
    says: "What never runs; a bare tool is not even offered",
  },
  settings: {
    kind: "text",
    value: "SETTINGS",
    says: "Settings for this session: JSON, inline or a file",
  },
  "setting-sources": {
    kind: "list",
    value: "SOURCES",
    says: "Which settings are read: user, project, local; what is named is trusted",
  },
  "mcp-config": {
    kind: "list",
    value: "SERVERS",
    says: "MCP servers for this session: JSON, inline or a file",
  },
  "strict-mcp-config": { kind: "flag", says: "Only the servers of --mcp-config" },
  "add-dir": { kind: "list", value: "FOLDER", says: "Another folder to work in" },
  "json-schema": {
    kind: "text",
    value: "SCHEMA",
    says: "The form of the answer: JSON Schema, inline or a file",
  },
  "allow-dangerously-skip-permissions": {
    kind: "flag",
    says: "Let --permission-mode bypassPermissions be set",
  },
} as const satisfies CliOptions;

export type PrintValues = OptionValues<typeof printOptions>;
