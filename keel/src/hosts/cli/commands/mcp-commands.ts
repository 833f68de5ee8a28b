/** The rows of `keel mcp` and `keel plugin` in the table of commands: what others bring. */
import { type CliCommand, type Define, json, targetOptions, yes } from "../command.ts";

export const mcpCommands = (command: Define): readonly CliCommand[] => [
  command({
    usage: "keel mcp list [--json]",
    says: "The MCP servers that count here, with where each was named. Nothing is started",
    options: json,
    load: async () => (await import("./mcp.ts")).list,
  }),
  command({
    usage: "keel mcp add NAME [OPTIONS] (URL | -- COMMAND [ARGUMENTS])",
    says: "Adds an MCP server: an address, or a command that speaks on its standard streams",
    options: {
      ...targetOptions,
      transport: {
        kind: "text",
        short: "t",
        value: "KIND",
        says: "stdio, http, sse or ws; told by the rest if left out",
      },
      env: { kind: "list", short: "e", value: "NAME=VALUE", says: "A variable for the command" },
      header: { kind: "list", short: "H", value: "NAME:VALUE", says: "A header for the address" },
    },
    load: async () => (await import("./mcp.ts")).add,
  }),
  command({
    usage: "keel mcp add-json NAME JSON [--user|--project|--local]",
    says: "Adds an MCP server that is written as JSON",
    options: targetOptions,
    load: async () => (await import("./mcp.ts")).addJson,
  }),
  command({
    usage: "keel mcp get NAME [--json]",
    says: "One MCP server: where it was named, and how it is reached. Nothing is started",
    options: json,
    load: async () => (await import("./mcp.ts")).get,
  }),
  command({
    usage: "keel mcp remove NAME [--user|--project|--local]",
    says: "Removes an MCP server from the settings that have it",
    options: targetOptions,
    load: async () => (await import("./mcp.ts")).remove,
  }),
  command({
    usage: "keel mcp status [--json]",
    says: "Starts every MCP server, says how it stands and what it offers, and ends it",
    options: json,
    load: async () => (await import("./mcp.ts")).status,
  }),
  command({
    usage: "keel mcp login NAME",
    says: "Logs in to a server over HTTP, with a page in the browser",
    load: async () => (await import("./mcp.ts")).login,
  }),
  command({
    usage: "keel mcp logout NAME",
    says: "Forgets what a login left",
    load: async () => (await import("./mcp.ts")).logout,
  }),
  command({
    usage: "keel mcp serve [--model NAME] [--permission-mode MODE]",
    says: "Keel as an MCP server on standard streams: another agent asks it to do a task",
    options: {
      model: { kind: "text", short: "m", value: "NAME", says: "A model or an alias" },
      "permission-mode": { kind: "text", value: "MODE", says: "default, acceptEdits, plan or dontAsk" },
    },
    load: async () => (await import("./mcp-serve.ts")).serve,
  }),
  command({
    usage: "keel plugin add (FOLDER | git+URL[#TAG] | npm:NAME) [--yes]",
    says: "Shows what a plugin brings, asks, and adds it. Only files are fetched; nothing of it runs",
    options: yes,
    unheard: "goes-on",
    load: async () => (await import("./plugin.ts")).add,
  }),
  command({
    usage: "keel plugin list [--json]",
    says: "The plugins that were added, and what each brings",
    options: json,
    load: async () => (await import("./plugin.ts")).list,
  }),
  command({
    usage: "keel plugin remove NAME",
    says: "Removes a plugin. What was fetched is deleted; a folder of your own stays",
    load: async () => (await import("./plugin.ts")).remove,
  }),
];
