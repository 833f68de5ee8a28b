// Who may import whom, and how large it may be, as data: the picture in ARCHITECTURE.md, one row per layer.
// Type imports count. Every layer may import itself.

export type Layer = {
  /** Where its files are, from the root of the repository. */
  readonly folder: string;
  /** Layers, or single files of a layer, that it may import in any way. */
  readonly imports: readonly string[];
  /** Layers that it may load with `import()` only: what is heavy loads when it is asked for. */
  readonly lazyImports?: readonly string[];
  /** Which packages it may import; left out where the layer exists to know them. */
  readonly packages?: readonly string[];
  /** How many lines it may have, tests not counted. A layer that needs more says why here. */
  readonly lines?: number;
};

const basics = ["protocol", "kernel"];
const adapter = ["ports", ...basics];
const host = ["app", "view", "transport", ...basics];
const otherHosts = [
  "hosts/server",
  "hosts/tui",
  "hosts/runner",
  "hosts/desktop",
  "hosts/console",
  "hosts/acp",
  "hosts/bridge",
];

const rows = {
  // With all that says how text may be shown, and which names fit what somebody types, and tries that fail again
  // and again.
  // Patterns that are made at their first use stand in a function each.
  // With what to do now, for each fault.
  // With what secrets look like, for files that are given away.
  kernel: { imports: [], packages: ["zod"], lines: 2_320 },
  // With JSON-RPC, which editors and agents of other people speak, and with the pipes of a program as a wire, for lines by
  // ssh; and with the way of a bridge to its server, over a socket or past what lets none through; with a port of loopback;
  // and with one line there and back, between processes of a person.
  transport: { imports: ["kernel"], packages: ["eventsource-parser", "ws"], lines: 1_200 },
  // With the tables of options, inquiries and operations, which every door is made from.
  // With what a new agent can be made of, for whoever makes one; with ids of the items of a task list, for rows that name one.
  // With the lines of a bridge.
  // With schedules.
  // With what plugins bring, as types, and their panels.
  // With places in a trace, and what clients ask of chat groups and of schedules, and a team as it is looked at.
  protocol: { imports: ["kernel"], packages: ["zod"], lines: 5_160 },
  // With a QR code, for both screens. With counts of calls. With tables. With how teams, schedules and goals are told.
  view: { imports: basics, packages: [], lines: 4_090 },

  // The far end of a handle: runs in a browser. With how the way to the server stands, for a screen to say, and how long
  // opening it may take.
  // With sessions that go to a server.
  client: { imports: ["transport", ...basics], packages: [], lines: 1_250 },

  // Pure: from the log to the next step and the next request, and what is allowed. No promise in `core`.
  // With tables of conversations and an index of what was said, which are caches over logs.
  // With what a person's desktop offers.
  // With what confines programs, and where schedules are kept.
  // With chat groups: their book, their channel and their agent.
  ports: { imports: basics, packages: [], lines: 2_090 },
  shell: { imports: ["ports", "kernel"], packages: [], lines: 7_300 },
  // What rules mean on a ground is kept with them.
  // With a command word by word, for whoever is asked.
  // With rules that are tested: expectations, and the past decided again.
  // With hosts that may be reached.
  policy: { imports: ["shell", "ports", ...basics], packages: [], lines: 4_600 },
  // With what the model is reminded of, and what a conversation was at an earlier message.
  core: { imports: ["policy", "ports", ...basics], packages: ["zod"], lines: 3_560 },
  // Performing.
  // With what is given up at the end although nobody has it.
  tasks: { imports: ["core", "ports", ...basics], packages: [], lines: 360 },
  // With the last look before a command of a person's own words, where a command starts, and files that others changed,
  // and going back to a message; and what earlier conversations said.
  // With the calls of a program of the model.
  engine: { imports: ["tasks", "core", "policy", "ports", ...basics], packages: ["zod"], lines: 3_830 },
  // With teams: their mail and its bounds, also between sessions, their shared list, their end, and what each goes on with
  // after a crash.
  agents: { imports: ["engine", "core", "ports", ...basics], packages: [], lines: 2_840 },
  // With limits of a rate.
  hooks: { imports: ["ports", ...basics], packages: [], lines: 910 },

  // With wires that send nothing, for replays.
  // With OpenAI's two wires and Gemini's, and with whatever package of the AI SDK a person has installed;
  // with servers on this machine, and lists of models that somebody publishes.
  models: { imports: [...adapter, "transport"], lines: 6_500 },
  // With tools of ours that are served to others.
  mcp: { imports: [...adapter, "core", "transport"], lines: 2_540 },
  // With the eleven of a desktop, one for interactive programs, and three for schedules.
  tools: { imports: [...adapter, "core", "policy", "shell"], lines: 4_490 },
  // With what a conversation is told of its repository, where a shell ended, terminals and diffs of workspaces, and files
  // and terminals as an editor has them.
  // With the state of a folder that goes to another machine, and is brought back there.
  // With the programs of clipboards and screens.
  // With the sandbox of commands: what they may do, its mounts and its namespaces.
  // With the way out of the sandbox: a proxy, who may pass it, and keys that commands never hold.
  workspace: { imports: [...adapter, "policy"], lines: 13_530 },
  // With who holds what, logs in a database, and conversations as tables.
  // With a log that came from another machine.
  // A listing reads very many logs without a thread for each, and says which sessions went elsewhere.
  // Words that very many messages have are told from those that find something.
  // With what is counted of conversations.
  // With schedules and their claims, and what is said in chat groups.
  // With what sessions did: files, commands, faults and costs.
  // With logs in PostgreSQL: statements, leases, migrations, three places to move between, and how workers meet there.
  store: { imports: adapter, lines: 8_350 },
  // With sums of a person and the audit log.
  // With what a person says of chat groups.
  // With where the program of a plugin stands.
  config: { imports: adapter, lines: 4_080 },
  // With the index of what conversations said, its search by words and by meaning, and embedders.
  // Words that very many chunks have are told from those that find something: what each costs is counted first.
  memory: { imports: adapter, lines: 1_600 },

  // Chat services as channels of groups; two of them by a library that a person installs.
  channels: { imports: adapter, packages: ["zod"], lines: 900 },
  // What is said in chat groups and what their agents answer, over crashes; the ways in and out are ports.
  // With the tools of their agents, and who is next.
  groups: { imports: ["ports", ...basics], packages: ["zod"], lines: 960 },

  // What was recorded, looked at again: replays, searches for the message that broke something, traces.
  // With where a log goes another way and what came of it, and whose edit a line is.
  time: { imports: ["engine", "core", "policy", "ports", ...basics], packages: [], lines: 4_000 },

  // With transcripts of the official interface, and with what the model is told.
  app: {
    // With what each source of settings says, for programs, with workspaces and what drives their workers, and with a
    // session of the server as one of those who speak to it has it; and what a new agent can be made of.
    // With agents of other people: their wire, their events as ours, and policy without a session.
    // With the bridges of the server, and a session that goes to another machine.
    // With moves: parcels, their steps, and what settles them.
    // With the editor of a session's folder.
    // With conversations as tables that follow the logs.
    // With what hosts over lines share: reading, slow readers, answers, the order of ending.
    // Memory for clients of a server, and searches that ask the tables of conversations; reviews of the mode auto.
    // With what a person watches over: sums, the audit log, and tools of their own.
    // With schedules: when they are due, who starts them, and their sessions.
    // With chat groups: their sessions, folders, boxes, channels and tools.
    // With sessions that are tried once more, evals, and which session changed a line.
    // With letters between sessions, and the schedules of models.
    // With spans that are sent beside the work.
    // With workers: servers that share a database.
    // With recorded calls that run once more, and sessions as one file that replays.
    // With a team as it is looked at, and schedules for clients.
    lines: 31_700,
    imports: [
      "models",
      "tools",
      "mcp",
      "workspace",
      "store",
      "config",
      "memory",
      "hooks",
      "agents",
      "groups",
      "channels",
      "time",
      "engine",
      "core",
      "policy",
      "shell",
      "ports",
      "transport",
      // A session may be at the server of its home.
      "client",
      // What an agent does is shown by the same fold on the server's side as on a screen.
      "view/activity.ts",
      "view/shown.ts",
      // Teams and schedules are said in the same words where no screen is.
      "view/say-team.ts",
      "view/say-schedule.ts",
      ...basics,
    ],
  },

  // Servers of other libraries, what zod 3 does not say itself, and the declarations of the whole interface.
  // With a session of the server that a program goes on with, and what fills the window as programs of the interface read it.
  sdk: { imports: host, lines: 11_200 },
  // The command speaks the SDK's dialect; the rehearsal and the model server are parts of the testing kit. With every
  // flag of the interface.
  "hosts/cli": {
    // With a session of the server on a terminal, the ways to the console, and sessions of other machines by ssh, by a bridge and by a move.
    // With the audit log and counts of calls, and schedules.
    // With replays, searches for the message that broke something, and traces.
    // With sessions that are tried once more, evals, and which session changed a line.
    // With help by what people want to do, and with the servers of a database.
    // With recorded calls that run once more.
    lines: 8_050,
    imports: [...host, "client", "sdk"],
    lazyImports: ["hosts/executable", ...otherHosts, "testing"],
  },
  // The executable of an SDK: the command line's streams, the SDK's dialect.
  "hosts/executable": { imports: [...host, "sdk", "hosts/cli"], lines: 800 },
  // The terminal screen: text as terminals measure it, Markdown, keys, editing, dialogs, screens and the writer, all pure
  // but the last and a little wiring.
  // With tables. With screens of the team, schedules and the goal.
  "hosts/tui": { imports: [...host, "client"], lines: 11_220 },
  // With tools of its own, which reach out as adapters do.
  "hosts/runner": {
    lines: 2_250,
    imports: [
      ...host,
      "ports",
      "config/settings/paths.ts",
      "workspace/git/git.ts",
      "workspace/web/post-json.ts",
    ],
  },
  // Owns sessions for those who attach: frames, HTTP, who may come in, and the document of it all.
  // With the dialects that other programs speak, of which the official SDK's is the executable's own, and
  // with the door of bridges.
  "hosts/server": { imports: [...host, "sdk"], lines: 5_100 },
  // An agent of editors, in two versions of their protocol. Of its library only the types.
  "hosts/acp": {
    imports: [...host, "ports/clock.ts"],
    packages: ["@agentclientprotocol/sdk", "zod"],
    lines: 2_900,
  },
  // Behind a firewall: calls out, takes work, and tells what becomes of it.
  "hosts/bridge": { imports: [...host, "config/definitions/git-head.ts"], packages: ["zod"], lines: 1_200 },
  // The runtime behind a desktop shell. Its tools and the person's desktop come with the first session.
  "hosts/desktop": {
    imports: [...host, "ports", "tools/desktop/desktop-tools.ts", "workspace/desktop/platform.ts"],
    lines: 1_250,
  },
  "hosts/console": { imports: host },

  testing: {
    // With the kit for agents of editors, in both versions of their protocol, and the fakes of stores for many workers.
    // With suites for models, wires, channels and embedders, and a replay.
    lines: 9_560,
    imports: [
      "engine",
      "core",
      "policy",
      "ports",
      "transport",
      ...basics,
      "store/memory/memory.ts",
      "workspace/processes/run-command.ts",
      // Decisions are taken again as a session takes them.
      "workspace/processes/grammar.ts",
      // Recorded exchanges are served to the real adapters.
      "models/http.ts",
      "models/connect.ts",
      "models/catalog.ts",
      "models/providers.ts",
      // Recorded sessions go through today's engine.
      "time",
      "models/silent.ts",
      "store/jsonl/log-file.ts",
      "tools/heads.ts",
    ],
  },
} as const satisfies Record<string, Omit<Layer, "folder">>;

export const layers: Readonly<Record<string, Layer>> = {
  ...Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { folder: `keel/src/${name}/`, ...row }]),
  ),
  // With its gallery; recorded events do not count.
  // With comments on ranges of a diff, other names and the end of workspaces and workers, the page of memory, and a state of
  // the gallery for each. With the end of a long session before the rest of it.
  // With the panels of plugins.
  // With the pages of chat groups. With the parts of a team and a goal, and the page of schedules.
  web: { folder: "web/src/", imports: ["protocol", "view", "client"], lines: 14_150 },
};

/** The only files that may do nothing but export what others own: the doors of the published package. */
export const publicEntries: Readonly<Record<string, string>> = {
  keel: "keel/src/sdk/index.ts",
  "keel/protocol": "keel/src/protocol/public.ts",
  "keel/client": "keel/src/client/public.ts",
  "keel/view": "keel/src/view/public.ts",
  "keel/sdk-tools": "keel/src/sdk/sdk-tools.ts",
  "keel/testing": "keel/src/testing/public.ts",
};

export function layerOf(file: string): string | undefined {
  return Object.keys(layers).find((name) => file.startsWith(layers[name]?.folder ?? "\0"));
}
