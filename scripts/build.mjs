// Bundles the command and the public entries into keel/dist, and writes their types.
// Runs on the pinned Node through `npm run build`.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const dist = path.join(root, "keel/dist");
const started = performance.now();

/** What is bundled: the name under dist, and the source. `types` marks what users import. */
const entries = [
  { out: "cli/main", source: "keel/src/hosts/cli/main.ts" },
  { out: "index", source: "keel/src/sdk/index.ts", types: true },
  { out: "protocol", source: "keel/src/protocol/public.ts", types: true },
  { out: "view", source: "keel/src/view/public.ts", types: true },
  { out: "testing", source: "keel/src/testing/public.ts", types: true },
];

const present = entries.filter((entry) => existsSync(path.join(root, entry.source)));
for (const entry of entries) {
  if (!present.includes(entry)) console.log(`build: left out, not written yet: ${entry.source}`);
}

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });

const [{ metafile }] = await Promise.all([bundle(), writeTypes()]);

const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
const ms = Math.round(performance.now() - started);
console.log(`build: ${present.length} entries, ${Math.round(bytes / 1024)} KiB, ${ms} ms`);

async function bundle() {
  const result = await build({
    absWorkingDir: root,
    entryPoints: present.map(({ source, out }) => ({ in: source, out })),
    outdir: dist,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node24",
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "linked",
    metafile: true,
    // A bundled CommonJS dependency may call require() for node:* modules.
    banner: {
      js: 'import { createRequire as __keelRequire } from "node:module"; const require = __keelRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  await writeFile(path.join(dist, "metafile.json"), JSON.stringify(result.metafile));
  return result;
}

async function writeTypes() {
  const sources = present.filter((entry) => entry.types).map((entry) => entry.source);
  if (sources.length === 0) {
    console.log("build: no types, no public entry is written yet");
    return;
  }
  // tsc takes either a project or files: a project that lists the files that exist keeps one set of options.
  const project = path.join(root, "node_modules/.cache/tsconfig.types.json");
  await mkdir(path.dirname(project), { recursive: true });
  const files = sources.map((source) => path.join(root, source));
  const options = { rootDir: path.join(root, "keel/src"), outDir: path.join(dist, "types") };
  await writeFile(
    project,
    JSON.stringify({ extends: path.join(root, "tsconfig.build.json"), compilerOptions: options, files }),
  );
  await run(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
}

function run(command, parameters) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd: root, stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))));
  });
}
