// Bundles the page: small files with names of their contents, which any browser of the last years runs.
// Called by `npm run build`, which names the folder.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";

const here = import.meta.dirname;
const sources = path.join(here, "../keel/src");

/**
 * The table of faults as the page needs it: the sentences of those that a client makes itself. All others come over the
 * wire with their sentences, hints and exits are of the command, and the names of codes are the server's word.
 */
const faultsOfPage = {
  name: "faults-of-the-page",
  async load(id) {
    const table = path.join(sources, "kernel/faults.ts");
    if (id !== table) return null;
    const { faults } = await import(pathToFileURL(table).href);
    const places = globSync("{client,kernel,protocol,transport,view}/**/*.ts", { cwd: sources });
    const made = places
      .filter((name) => !name.endsWith(".test.ts"))
      .flatMap((name) => [...readFileSync(path.join(sources, name), "utf8").matchAll(/\bfault\(\s*"(\w+)"/g)])
      .map(([, code]) => [code, { says: faults[code].says }]);
    return {
      code: [
        `export const faults = ${JSON.stringify(Object.fromEntries(made))};`,
        "export const exitCodes = {};",
        "export const isFaultCode = (text) => /^[a-z_]+$/.test(text);",
      ].join("\n"),
      moduleType: "js",
    };
  },
};

/**
 * Schemas are made and never do anything else; a page that does not parse has no need of them. What makes them is marked
 * where they are made, and nowhere else: by name alone, a call of anything that happens to be called `list` would go too.
 */
const schemasMadeForNothing = {
  name: "schemas-made-for-nothing",
  enforce: "pre",
  transform(code, id) {
    if (!id.startsWith(path.join(sources, "protocol"))) return null;
    return {
      code: code.replace(/(?<![.\w])(z\.\w+|opt|list|words|about)(?=\()/g, "/* @__PURE__ */ $1"),
      map: null,
    };
  },
};

/** Resolves to the bytes of all that was written. */
export async function bundlePage(outDir) {
  const { output } = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    publicDir: path.join(here, "public"),
    resolve: {
      alias: Object.fromEntries(
        ["protocol", "view", "client"].map((entry) => [
          `keel/${entry}`,
          path.join(sources, entry, "public.ts"),
        ]),
      ),
    },
    // Its grammars are loaded when they are needed.
    worker: { format: "es" },
    plugins: [faultsOfPage, schemasMadeForNothing],
    build: {
      outDir,
      emptyOutDir: false,
      target: "es2024",
      // The door serves no inline script, no inline style and no data as a script.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // A figure that the test of sizes takes itself.
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1_000,
      rolldownOptions: {
        // A mark for servers that render pages, which nobody does here.
        checks: { moduleLevelDirective: false, pluginTimings: false },
        output: {
          codeSplitting: {
            groups: [
              // What every page needs is one file: it is smaller than many, and asked for once.
              { name: "index", tags: ["$initial"], priority: 1 },
              // So is what shows texts and results.
              { name: "shown", test: /[\\/]web[\\/]src[\\/](displays|markdown)[\\/](?!ansi|terminal)[^?]*$/ },
            ],
          },
        },
        treeshake: {
          propertyReadSideEffects: false,
          // Nothing of ours does anything on import; only what is used of it is taken.
          moduleSideEffects: (id) => !id.startsWith(sources) && !/[\\/]node_modules[\\/]zod[\\/]/.test(id),
        },
      },
    },
  });
  return output.reduce(
    (sum, file) => sum + (file.type === "chunk" ? file.code.length : file.source.length),
    0,
  );
}
