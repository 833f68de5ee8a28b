// Bundles the command and the public entries into keel/dist, and writes their types.
// Runs on the pinned Node through `npm run build`; with --changed (`npm start`) only what is not built from these sources.
import { existsSync, readFileSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { bundlePage } from "../web/bundle.mjs";
import { bundleCommand } from "./bundle-command.mjs";
import { compressPage } from "./compress-page.mjs";
import { nameOfBuild, sumOf } from "./name-of-build.mjs";
import { root, run } from "./run.mjs";

const dist = path.join(root, "keel/dist");
const fresh = `${dist}.fresh-${process.pid}`;
const old = `${dist}.old-${process.pid}`;
const sums = ".made-of.json";

/**
 * What is bundled: the name under dist, and the source. `types` marks what users import; `browser` what must also run
 * there, and is bundled apart for it: an import of Node then fails the build, and no code of Node is shared into it.
 */
const entries = [
  { out: "index", source: "keel/src/sdk/index.ts", types: true },
  { out: "protocol", source: "keel/src/protocol/public.ts", types: true, browser: true },
  { out: "client", source: "keel/src/client/public.ts", types: true, browser: true },
  { out: "view", source: "keel/src/view/public.ts", types: true, browser: true },
  { out: "testing", source: "keel/src/testing/public.ts", types: true },
  { source: "keel/src/sdk/sdk-tools.ts", types: true },
];

/** The version of Node is looked at before anything is run, so that one that is too old gets a sentence. */
const behind = /-entry$/;
const door = (out) => `import "./node-version.js";\nexport * from "./${out}.js";\n`;

const started = performance.now();
const present = entries.filter((entry) => existsSync(path.join(root, entry.source)));
for (const entry of entries) {
  if (!present.includes(entry)) console.log(`build: left out, not written yet: ${entry.source}`);
}

/** What each part is made of. The page shares some sources with the rest. */
const tools = ["package-lock.json", "scripts/*.{mjs,cjs,txt}", "tsconfig*.json", "keel/package.json"];
const madeOf = {
  code: sumOf(root, [...tools, "keel/src/**/*.ts", "keel/bin/*"]),
  page: sumOf(root, [
    ...tools,
    "web/{src,public}/**/*",
    "web/*",
    "keel/src/{client,kernel,protocol,transport,view}/**/*.ts",
  ]),
};
const builtOf = readSums();
const isKept = (part) => process.argv.includes("--changed") && builtOf[part] === madeOf[part];

try {
  if (isKept("code") && isKept("page")) console.log("build: nothing has changed");
  else await make();
} catch (error) {
  console.error(`build: failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await Promise.all([fresh, old].map((folder) => rm(folder, { recursive: true, force: true })));
}

async function make() {
  await mkdir(fresh, { recursive: true });
  const page = path.join(fresh, "web");
  await Promise.all([
    isKept("page") ? cp(path.join(dist, "web"), page, { recursive: true }) : makePage(page),
    isKept("code") ? copyCode() : Promise.all([bundle(), writeTypes()]),
  ]);
  await writeFile(path.join(fresh, sums), JSON.stringify(madeOf));
  await replaceDist();
  if (!isKept("code")) await rehearse();
  const kept = ["code", "page"].filter(isKept).map((part) => `, the ${part} as it was`);
  console.log(
    `build: ${present.length} entries${kept.join("")}, ${Math.round(performance.now() - started)} ms`,
  );
}

async function makePage(page) {
  await bundlePage(page);
  await compressPage(page);
}

async function copyCode() {
  const names = (await readdir(dist)).filter((name) => name !== "web");
  await Promise.all(
    names.map((name) => cp(path.join(dist, name), path.join(fresh, name), { recursive: true })),
  );
}

/** Of what the last build was made; of nothing where there was none, or where it was not whole. */
function readSums() {
  try {
    return JSON.parse(readFileSync(path.join(dist, sums), "utf8"));
  } catch {
    return {};
  }
}

/** One answer without a key or a network, so that the first real one already finds the code compiled. */
async function rehearse() {
  const reply = readFileSync(path.join(root, "scripts/one-reply.txt"));
  const server = createServer((request, response) => {
    request
      .resume()
      .on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(reply));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = await mkdtemp(path.join(tmpdir(), "keel-build-"));
  const env = {
    HOME: home,
    KEEL_HOME: path.join(home, "keel"),
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  };
  try {
    const command = [path.join(root, "keel/bin/start.cjs"), "-p", "Say yes."];
    const code = await run(process.execPath, command, env, ["ignore", "ignore", "inherit"]);
    if (code !== 0) throw new Error("the built command does not run");
  } finally {
    server.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function bundle() {
  const define = { keelBuild: JSON.stringify(nameOfBuild(root)) };
  const shared = {
    absWorkingDir: root,
    outdir: fresh,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "linked",
    // Its entry for CommonJS hides what it requires from a bundler.
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
    define,
    metafile: true,
    logLevel: "warning",
  };
  // A CommonJS dependency, once bundled, still calls require() for modules of Node.
  const banner =
    'import { createRequire as keelRequire } from "node:module"; const require = keelRequire(import.meta.url);';
  const [command, ...results] = await Promise.all([
    bundleCommand(path.join(fresh, "cli"), define),
    build({
      ...shared,
      entryPoints: points(false),
      platform: "node",
      target: "node22",
      banner: { js: banner },
    }),
    build({ ...shared, entryPoints: points(true), platform: "browser", target: "es2024" }),
  ]);
  await Promise.all([
    copyFile(path.join(root, "keel/bin/node-version.mjs"), path.join(fresh, "node-version.js")),
    ...points(false).map(({ out }) => writeFile(path.join(fresh, out.replace(behind, ".js")), door(out))),
  ]);
  const outputs = Object.assign({}, ...results.map(({ metafile }) => metafile.outputs));
  const inputs = Object.assign({}, ...results.map(({ metafile }) => metafile.inputs));
  await writeFile(
    path.join(fresh, "metafile.json"),
    JSON.stringify({ inputs, outputs, command: command.imports }),
  );
  const code = Object.entries(outputs).filter(([file]) => file.endsWith(".js"));
  return code.reduce((sum, [, output]) => sum + output.bytes, command.bytes);
}

function points(forBrowser) {
  const chosen = present.filter(({ out, browser = false }) => out !== undefined && browser === forBrowser);
  return chosen.map(({ source, out }) => ({ in: source, out: forBrowser ? out : `${out}-entry` }));
}

async function writeTypes() {
  const sources = present.filter((entry) => entry.types).map((entry) => path.join(root, entry.source));
  if (sources.length === 0) {
    console.log("build: no types, no public entry is written yet");
    return;
  }
  // A project of its own that lists the entries that exist: tsc takes files or a project, not both.
  const project = path.join(fresh, "tsconfig.json");
  const options = { rootDir: path.join(root, "keel/src"), outDir: path.join(fresh, "types") };
  const extended = path.join(root, "tsconfig.build.json");
  await writeFile(project, JSON.stringify({ extends: extended, compilerOptions: options, files: sources }));
  const code = await run(process.execPath, [
    path.join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    project,
  ]);
  if (code !== 0) throw new Error("the types of the public entries do not compile");
  await rm(project);
}

/** Swapped in whole, so that a command which runs meanwhile, or a second build, never meets half a dist. */
async function replaceDist() {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (existsSync(dist)) await rename(dist, old);
      await rename(fresh, dist);
      return;
    } catch (error) {
      // A second build was quicker between the two steps: take its place.
      if (attempt === 5 || !["ENOENT", "ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
      await rm(old, { recursive: true, force: true });
    }
  }
}
