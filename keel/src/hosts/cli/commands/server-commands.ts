/** The commands about servers of sessions, here and on other machines, as rows of the table. */
import { type CliCommand, type Define, json, yes } from "../command.ts";

const store = {
  kind: "text",
  value: "URL",
  says: "The database; KEEL_STORE_URL or the setting `storeUrl` when left out",
} as const;

export const serverCommands = (define: Define): CliCommand[] => [
  define({
    usage:
      "keel serve [--port N …] [--store URL] [--detach] [--stdio | --status | --stop | --openapi] [--json]",
    says: "Owns the sessions of this home, for programs, browsers and terminals that attach to them",
    options: {
      ...json,
      port: { kind: "text", value: "N", says: "Also on 127.0.0.1, at this port; 0 for any that is free" },
      host: {
        kind: "text",
        value: "ADDRESS",
        says: "At that port of another address than 127.0.0.1; with TLS, unless it is of this machine alone",
      },
      "tls-cert": { kind: "text", value: "FILE", says: "The certificate, with those in between, in PEM" },
      "tls-key": { kind: "text", value: "FILE", says: "Its key, in PEM" },
      "public-url": {
        kind: "text",
        value: "URL",
        says: "What a tunnel or a proxy in front calls this server: links carry it, and pages of it may come in",
      },
      store: {
        kind: "text",
        value: "URL",
        says: "One of several servers on this PostgreSQL database (postgres://…), each with its own home",
      },
      detach: { kind: "flag", says: "In the background: the end of this terminal does not reach it" },
      stdio: {
        kind: "flag",
        says: "Speak keel.v1 over standard input and output; without --detach the server ends with them",
      },
      status: { kind: "flag", says: "Say whether one runs, and what it has at work" },
      stop: { kind: "flag", says: "End the one that runs, in order, and wait for that" },
      openapi: { kind: "flag", says: "Print the interface as an OpenAPI 3.1 document, and start nothing" },
    },
    // Whoever started it may look away: others attach.
    unheard: "goes-on",
    load: async () => (await import("./serve.ts")).serve,
  }),
  define({
    usage: "keel admin workers [--store URL] [--json]",
    says: "The servers that share a database, and how many sessions each has",
    options: { ...json, store },
    load: async () => (await import("./admin.ts")).adminWorkers,
  }),
  define({
    usage: "keel admin leases [--store URL] [--json]",
    says: "Which session is at which of them, newest first",
    options: { ...json, store },
    load: async () => (await import("./admin.ts")).adminLeases,
  }),
  define({
    usage: "keel admin drain ID [--store URL]",
    says: "Lets one of them give its sessions away, each when its turn has ended; it takes nothing new",
    options: { store },
    load: async () => (await import("./admin.ts")).adminDrain,
  }),
  define({
    usage: "keel serve pair [--name NAME] [--access LEVEL] [--yes] [--json]",
    says: "Shows a code with which another device is let in, once both show the same digits",
    options: {
      ...yes,
      ...json,
      name: {
        kind: "text",
        value: "NAME",
        says: "What it is called here; what it says itself when left out",
      },
      access: {
        kind: "text",
        value: "LEVEL",
        says: "watch, answer (what is asked; the default), work (everything) or bridge (only offer a folder)",
      },
    },
    load: async () => (await import("./devices.ts")).pair,
  }),
  define({
    usage: "keel serve devices [remove ID] [--json]",
    says: "Who was let in to the server and may come again; one that is removed is cut off",
    options: json,
    load: async () => (await import("./devices.ts")).devices,
  }),
  define({
    usage: "keel serve bridges [work ID [PROMPT] | remove ID] [--title TEXT] [--model NAME] [--json]",
    says: "The machines that offer a folder by `keel bridge`; gives one of them work, or forgets it",
    options: {
      ...json,
      title: { kind: "text", value: "TEXT", says: "Of the session that the work is" },
      model: { kind: "text", short: "m", value: "NAME", says: "Of that session" },
    },
    load: async () => (await import("./bridge.ts")).bridges,
  }),
  define({
    usage: "keel console [--port N] [--no-open] [--json]",
    says: "Opens the browser app; starts the server that it needs where none runs",
    options: {
      ...json,
      port: { kind: "text", value: "N", says: "Of a server that is started; any that is free when left out" },
      "no-open": { kind: "flag", says: "Only say the link" },
    },
    load: async () => (await import("./console.ts")).openConsole,
  }),
  define({
    usage: "keel attach [ID]",
    says: "Joins a session of the server on this terminal: the newest of this folder if none is named",
    load: async () => (await import("../attach/attach.ts")).attach,
  }),
  define({
    usage: "keel bridge URL [--spawn MODE] [--max-sessions N] [--pair CODE | --secret-file FILE]",
    says: "Offers this folder to a server that cannot reach it, and works here what it is given",
    options: async () => (await import("./bridge.ts")).bridgeOptions,
    unheard: "goes-on",
    load: async () => (await import("./bridge.ts")).bridge,
  }),
  define({
    usage: "keel ssh [USER@]HOST [FOLDER] [--continue | --resume ID] [--model NAME]",
    says: "A session on another machine, on this terminal: by your own ssh, and the Keel that is there",
    options: {
      continue: { kind: "flag", short: "c", says: "Go on with the newest session of the folder" },
      resume: { kind: "text", short: "r", value: "ID", says: "Go on with this session" },
      model: { kind: "text", short: "m", value: "NAME", says: "Of a new session" },
      keel: { kind: "text", value: "PATH", says: "The command there, where it is not found by its name" },
      "ssh-command": {
        kind: "text",
        value: "COMMAND",
        says: "In place of `ssh`, with its options; KEEL_SSH_COMMAND says the same",
      },
    },
    load: async () => (await import("./ssh.ts")).ssh,
  }),
  define({
    usage: "keel teleport (ID TO | FILE) [--folder FOLDER] [--whole | --no-files] [--json]",
    says: "Moves a session with its folder: to HOST:FOLDER by ssh, to a server, or into a file",
    options: async () => (await import("./teleport.ts")).teleportOptions,
    load: async () => (await import("./teleport.ts")).teleport,
  }),
];

/** What a server starts by the clock. */
export const scheduleCommands = (command: Define): readonly CliCommand[] => [
  command({
    usage: "keel schedule add (--cron EXPRESSION | --every DURATION | --at TIME) [OPTIONS] PROMPT",
    says: "A prompt that is due by the clock, in this folder; `keel serve` starts it",
    options: async () => (await import("./schedule.ts")).scheduleAddOptions,
    load: async () => (await import("./schedule.ts")).add,
  }),
  command({
    usage: "keel schedule list [--json]",
    says: "The schedules, with what is next and what was last",
    options: json,
    load: async () => (await import("./schedule.ts")).list,
  }),
  command({
    usage: "keel schedule log NAME [--json]",
    says: "What became of its due times, with their sessions and costs",
    options: json,
    load: async () => (await import("./schedule.ts")).log,
  }),
  command({
    usage: "keel schedule run NAME",
    says: "Starts one now, and waits for it where no server runs",
    load: async () => (await import("./schedule.ts")).run,
  }),
  command({
    usage: "keel schedule run-due",
    says: "Starts what is due and waits for it: for a timer of your own, in place of `keel serve`",
    load: async () => (await import("./schedule.ts")).runDue,
  }),
  command({
    usage: "keel schedule pause NAME [--off]",
    says: "It is not due until it goes on; of that time nothing is made up for",
    options: { off: { kind: "flag", says: "Let it go on" } },
    load: async () => (await import("./schedule.ts")).pause,
  }),
  command({
    usage: "keel schedule remove NAME",
    says: "Ends it and forgets its due times; sessions stay",
    load: async () => (await import("./schedule.ts")).remove,
  }),
];

/** Chat groups, whose agents a server runs. */
export const groupCommands = (command: Define): readonly CliCommand[] => [
  command({
    usage: "keel groups add ID [--name NAME] [--folder FOLDER] [--trigger WORD | --always] [OPTIONS]",
    says: "A chat group with an agent of its own, in a folder; `keel serve` runs it",
    options: async () => (await import("./groups.ts")).groupAddOptions,
    load: async () => (await import("./groups.ts")).add,
  }),
  command({
    usage: "keel groups register CHANNEL:CHAT ID [OPTIONS]",
    says: "Makes a group of a chat that a channel has heard of",
    options: async () => (await import("./groups.ts")).groupAddOptions,
    load: async () => (await import("./groups.ts")).register,
  }),
  command({
    usage: "keel groups chats [--json]",
    says: "The chats that channels have heard of and that are no groups yet",
    options: json,
    load: async () => (await import("./groups.ts")).chats,
  }),
  command({
    usage: "keel groups status [ID] [--json]",
    says: "What is at work in the groups, what waits, and what they are not given",
    options: json,
    load: async () => (await import("./groups.ts")).status,
  }),
  command({
    usage: "keel groups list [--json]",
    says: "The groups, with what their agents listen to",
    options: json,
    load: async () => (await import("./groups.ts")).list,
  }),
  command({
    usage: "keel groups say ID TEXT [--from NAME] [--id ID]",
    says: "Says something in a group, as one of its people",
    options: async () => (await import("./groups.ts")).groupSayOptions,
    load: async () => (await import("./groups.ts")).say,
  }),
  command({
    usage: "keel groups log ID [--last N] [--json]",
    says: "What was said in a group, and what its agent answered",
    options: async () => (await import("./groups.ts")).groupLogOptions,
    load: async () => (await import("./groups.ts")).log,
  }),
  command({
    usage: "keel groups agent",
    says: "The program of a group's container; `keel serve` starts it",
    load: async () => (await import("./groups.ts")).agent,
  }),
  command({
    usage: "keel groups tools",
    says: "The tools of a group's agent, as an MCP server; `keel serve` starts it",
    load: async () => (await import("./groups.ts")).tools,
  }),
  command({
    usage: "keel groups remove ID",
    says: "Forgets a group and what was said in it; its session stays",
    load: async () => (await import("./groups.ts")).remove,
  }),
];
