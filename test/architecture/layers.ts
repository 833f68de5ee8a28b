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

const pureAdapter = ["engine", "protocol", "kernel"];
const wiredAdapter = ["engine", "protocol", "transport", "kernel"];
const host = ["app", "view", "protocol", "transport", "kernel"];
const otherHosts = ["hosts/tui", "hosts/runner", "hosts/desktop", "hosts/console", "hosts/ide"];

const rows = {
  kernel: { imports: [], packages: ["zod"] },
  transport: { imports: ["kernel"], packages: ["eventsource-parser", "ws"] },
  protocol: { imports: ["kernel"], packages: ["zod"] },
  view: { imports: ["protocol", "kernel"], packages: [] },
  engine: { imports: ["protocol", "kernel"], packages: ["zod"] },

  models: { imports: wiredAdapter },
  mcp: { imports: wiredAdapter },
  tools: { imports: pureAdapter },
  workspace: { imports: pureAdapter },
  store: { imports: pureAdapter },
  config: { imports: pureAdapter },
  memory: { imports: pureAdapter },

  app: {
    imports: [
      ...["models", "tools", "mcp", "workspace", "store", "config", "memory"],
      ...["engine", "protocol", "transport", "kernel"],
    ],
  },

  sdk: { imports: host },
  // The command speaks the SDK's dialect; the rehearsal and the model server are parts of the testing kit.
  "hosts/cli": { imports: [...host, "sdk"], lazyImports: [...otherHosts, "testing"] },
  "hosts/tui": { imports: host },
  "hosts/runner": { imports: host },
  "hosts/desktop": { imports: host },
  "hosts/console": { imports: host },
  "hosts/ide": { imports: host },

  testing: {
    imports: [
      ...["kernel", "transport", "protocol", "engine", "store/memory.ts"],
      // Recorded exchanges are served to the real adapters.
      ...["models/http.ts", "models/connect.ts", "models/catalog.ts", "models/providers.ts"],
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
