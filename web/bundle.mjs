// Bundles the page: small files with names of their contents, which any browser of the last years runs.
// Called by `npm run build`, which names the folder.
import path from "node:path";
import { build } from "vite";

const here = import.meta.dirname;
const sources = path.join(here, "../keel/src");

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
        treeshake: {
          // Schemas are made and never do anything else; a page that does not parse has no need of them.
          manualPureFunctions: ["z", "opt", "list", "words", "about"],
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
