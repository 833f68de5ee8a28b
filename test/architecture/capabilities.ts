// Which part of the world may be touched where, as data. What is not listed may not: the world arrives by parameter.
// A place is a folder or a file under keel/src, or `web/`.

export type Capability = {
  readonly name: string;
  /** Dotted names of globals; `process.env` covers `process.env.HOME`. */
  readonly globals?: readonly string[];
  /** Modules, with their sub-paths: `node:fs` covers `node:fs/promises`. */
  readonly modules?: readonly string[];
  /** Names that touch it although their module does other things too. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly allowedIn: readonly string[];
  readonly instead: string;
};

/** The layers that also run in a browser, and the engine, which is pure by design. */
const purePlaces = [
  "kernel/",
  "protocol/",
  "view/",
  "ports/",
  "shell/",
  "policy/",
  "core/",
  "engine/",
  "time/",
  "agents/",
  "hooks/",
  "transport/",
  "client/",
  "web/",
];
const nodePlaces = [
  "transport/node/",
  "models/",
  "tools/",
  "mcp/",
  "workspace/",
  "store/",
  "config/",
  "memory/",
  "channels/",
  "app/",
  "sdk/",
  "hosts/",
  "testing/",
];
const timed = [
  "app/node-ports.ts",
  "transport/node/",
  "models/",
  "mcp/",
  "workspace/",
  "store/",
  // Requests have an end.
  "channels/whatsapp/",
  "hosts/",
  "testing/",
  "web/",
  // What the platform gives a client: the rest of it takes ports.
  "client/connect.ts",
  // A session in a process of its own: no port of this process is open yet.
  "sdk/process/",
];

export const capabilities: readonly Capability[] = [
  {
    name: "an error without a code",
    globals: ["new Error(…)"],
    allowedIn: [
      // A mistake of the program, which nobody answers.
      "kernel/result.ts",
      "hosts/cli/main.ts",
      "web/",
      "store/jsonl/upgrade.ts",
      "workspace/checkpoints/blobs.ts",
      // Inner ways out: whoever calls takes the slower way, or nothing.
      "kernel/plain.ts",
      "store/jsonl/fold-cache.ts",
      // What a disk says, like an errno: it becomes the fault of the log where it is caught.
      "store/jsonl/files.ts",
      "store/jsonl/lease.ts",
      "store/jsonl/log-locations.ts",
      "store/jsonl/log.ts",
      "store/jsonl/seal.ts",
      "store/jsonl/names.ts",
      "store/sqlite/database.ts",
      // Whatever somebody threw that is no error; and the reason of a signal, which is told as a sentence.
      "workspace/processes/job.ts",
      "mcp/transports/stdio.ts",
      "workspace/web/web.ts",
      // For tests.
    ],
    instead: "throw a fault by its code",
  },
  {
    name: "the clock",
    globals: ["Date.now", "new Date()", "Date()", "performance.now", "process.hrtime"],
    modules: ["node:perf_hooks"],
    allowedIn: timed,
    instead: "take the Clock port",
  },
  {
    name: "a timer",
    globals: ["setTimeout", "setInterval", "setImmediate", "AbortSignal.timeout"],
    modules: ["node:timers"],
    allowedIn: timed,
    instead: "take the Clock port",
  },
  {
    name: "chance",
    globals: ["Math.random", "crypto.randomUUID", "crypto.getRandomValues"],
    names: { "node:crypto": ["randomUUID", "randomBytes", "randomInt", "getRandomValues", "webcrypto"] },
    allowedIn: [
      "app/node-ports.ts",
      "mcp/",
      "workspace/",
      "store/",
      "sdk/process/",
      "hosts/",
      "testing/",
      "client/connect.ts",
      "web/",
    ],
    instead: "take the Ids port",
  },
  {
    name: "the environment",
    globals: ["process.env"],
    names: { "node:process": ["env"] },
    allowedIn: ["hosts/", "sdk/", "app/"],
    instead: "take the values by parameter; the host reads the environment once",
  },
  {
    name: "the process's directory",
    globals: ["process.chdir"],
    names: { "node:process": ["chdir"] },
    allowedIn: [],
    instead: "pass cwd: a process serves many sessions",
  },
  {
    name: "the console",
    globals: ["console"],
    modules: ["node:console"],
    allowedIn: [],
    instead: "raise a notice; only a host writes, and to its streams",
  },
  {
    name: "the file system",
    modules: ["node:fs"],
    allowedIn: [
      "workspace/",
      "store/",
      "config/",
      "memory/",
      "mcp/",
      "app/",
      "sdk/",
      "hosts/",
      "testing/",
      "transport/node/",
    ],
    instead: "take the Workspace or the Store port",
  },
  {
    name: "another process",
    modules: ["node:child_process", "node:cluster"],
    allowedIn: [
      "workspace/",
      "mcp/transports/",
      "sdk/process/child.ts",
      "testing/",
      // A server in the background is meant to outlive who started it.
      "hosts/cli/commands/serve-apart.ts",
      // The person's own ssh, which ends with its pipes.
      "transport/node/program-wire.ts",
      // A browser is not ours to end.
      "hosts/cli/commands/open-browser.ts",
    ],
    instead: "take the Workspace port: its guard ends whatever it started",
  },
  {
    name: "a thread",
    modules: ["node:worker_threads"],
    allowedIn: ["memory/", "workspace/", "testing/"],
    instead: "say in a decision why a thread is needed",
  },
  {
    name: "the network",
    globals: ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"],
    modules: ["node:net", "node:http", "node:https", "node:http2", "node:tls", "node:dgram", "node:dns"],
    allowedIn: [
      "models/",
      "mcp/",
      "workspace/",
      "memory/",
      "channels/",
      "transport/node/",
      "testing/",
      "web/",
      "client/connect.ts",
      "hosts/server/",
      "hosts/console/",
    ],
    instead: "take the Model port, the Workspace port or a transport",
  },
  {
    name: "a database",
    modules: ["node:sqlite"],
    allowedIn: ["store/", "memory/", "workspace/"],
    instead: "take the Store port",
  },
  {
    name: "Node itself",
    globals: ["process", "Buffer", "require", "__dirname", "__filename", "global"],
    modules: ["node:"],
    allowedIn: nodePlaces,
    instead: `${purePlaces.join(" ")} run without Node: take a port, or move the code to an adapter`,
  },
];
