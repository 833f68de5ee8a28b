// Who may import whom, as data: the picture in ARCHITECTURE.md, one row per layer.
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
};

const basics = ["protocol", "kernel"];
const adapter = ["ports", ...basics];
const host = ["app", "view", "transport", ...basics];
const otherHosts = ["hosts/tui", "hosts/runner", "hosts/desktop", "hosts/console", "hosts/ide"];

const rows = {
  kernel: { imports: [], packages: ["zod"] },
  transport: { imports: ["kernel"], packages: ["eventsource-parser", "ws"] },
  protocol: { imports: ["kernel"], packages: ["zod"] },
  view: { imports: basics, packages: [] },

  // Pure: from the log to the next step and the next request, and what is allowed. No promise in `core`.
  ports: { imports: basics, packages: [] },
  shell: { imports: ["ports", "kernel"], packages: [] },
  policy: { imports: ["shell", "ports", ...basics], packages: [] },
  core: { imports: ["policy", "ports", ...basics], packages: ["zod"] },
  // Performing.
  tasks: { imports: ["core", "ports", ...basics], packages: [] },
  engine: { imports: ["tasks", "core", "policy", "ports", ...basics], packages: ["zod"] },
  agents: { imports: ["engine", "core", "ports", ...basics], packages: [] },
  hooks: { imports: ["ports", ...basics], packages: [] },

  models: { imports: [...adapter, "transport"] },
  mcp: { imports: [...adapter, "core", "transport"] },
  tools: { imports: [...adapter, "core", "policy", "shell"] },
  workspace: { imports: [...adapter, "policy"] },
  store: { imports: adapter },
  config: { imports: adapter },
  memory: { imports: adapter },

  app: {
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
      "engine",
      "core",
      "policy",
      "shell",
      "ports",
      "transport",
      ...basics,
    ],
  },

  sdk: { imports: host },
  // The command speaks the SDK's dialect; the rehearsal and the model server are parts of the testing kit.
  "hosts/cli": {
    imports: [...host, "sdk"],
    lazyImports: ["hosts/executable", ...otherHosts, "testing"],
  },
  // The executable of an SDK: the command line's streams, the SDK's dialect.
  "hosts/executable": { imports: [...host, "sdk", "hosts/cli"] },
  "hosts/tui": { imports: host },
  // With tools of its own, which reach out as adapters do.
  "hosts/runner": {
    imports: [
      ...host,
      "ports",
      "config/settings/paths.ts",
      "workspace/git/git.ts",
      "workspace/web/post-json.ts",
    ],
  },
  "hosts/desktop": { imports: host },
  "hosts/console": { imports: host },
  "hosts/ide": { imports: host },

  testing: {
    imports: [
      "engine",
      "core",
      "policy",
      "ports",
      "transport",
      ...basics,
      "store/memory/memory.ts",
      "workspace/processes/run-command.ts",
      // Recorded exchanges are served to the real adapters.
      "models/http.ts",
      "models/connect.ts",
      "models/catalog.ts",
      "models/providers.ts",
    ],
  },
} as const satisfies Record<string, Omit<Layer, "folder">>;

export const layers: Readonly<Record<string, Layer>> = {
  ...Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { folder: `keel/src/${name}/`, ...row }]),
  ),
  web: { folder: "web/src/", imports: ["protocol", "view"] },
};

/** The only files that may do nothing but export what others own: the doors of the published package. */
export const publicEntries: Readonly<Record<string, string>> = {
  keel: "keel/src/sdk/index.ts",
  "keel/protocol": "keel/src/protocol/public.ts",
  "keel/view": "keel/src/view/public.ts",
  "keel/testing": "keel/src/testing/public.ts",
};

export function layerOf(file: string): string | undefined {
  return Object.keys(layers).find((name) => file.startsWith(layers[name]?.folder ?? "\0"));
}
