// Bundles the page: small files with names of their contents, which any browser of the last years runs.
// Called by `npm run build`, which names the folder.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, parseAstAsync } from "vite";

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

const tableOfWords = path.join(here, "src/words.ts");

/**
 * The words of the page are one table, for whoever translates them, and each part of it (`words.diffs`, `words.settings`)
 * travels with what says it: whoever reads a conversation loads no word of the settings.
 */
const wordsWhereTheyAreSaid = {
  name: "words-where-they-are-said",
  enforce: "pre",
  async resolveId(id, importer) {
    return id.startsWith("words:") && importer ? `${tableOfWords}?part=${id.slice("words:".length)}` : null;
  },
  async load(id) {
    if (!id.startsWith(tableOfWords)) return null;
    const { code, start, end, parts } = await readWords();
    const wanted = new URLSearchParams(id.slice(tableOfWords.length)).get("part");
    // What else stands in the file is left out where nobody needs it.
    const table = wanted
      ? `export const part = ${parts.get(wanted).value};`
      : `export const words = {${[...parts.values()].filter(({ isPart }) => !isPart).map(({ whole }) => whole)}};`;
    return {
      code: code.slice(0, start) + table + code.slice(end),
      moduleType: "ts",
      moduleSideEffects: false,
    };
  },
  async transform(code, id) {
    if (!id.startsWith(path.join(here, "src")) || id.startsWith(tableOfWords)) return null;
    if (!/import \{ words \} from "[./]*words\.ts"/.test(code)) return null;
    const { parts } = await readWords();
    const used = new Set();
    const said = code.replace(/\bwords\.(\w+)/g, (whole, name) => {
      if (!parts.get(name)?.isPart) return whole;
      used.add(name);
      return `words$${name}`;
    });
    const imports = [...used].map((name) => `import { part as words$${name} } from "words:${name}";`);
    return { code: [...imports, said].join("\n"), map: null };
  },
};

/** The rows of the table as they are written, and whether each is a table of its own. */
async function readWords() {
  const code = readFileSync(tableOfWords, "utf8");
  const { body } = await parseAstAsync(code, { lang: "ts" });
  const table = body.find((one) => one.declaration?.declarations?.[0]?.id.name === "words");
  const bare = (node) => (node.expression && /^TS/.test(node.type) ? bare(node.expression) : node);
  const rows = bare(table.declaration.declarations[0].init).properties.map((row) => [
    row.key.name,
    {
      whole: code.slice(row.start, row.end),
      value: code.slice(row.value.start, row.value.end),
      isPart: bare(row.value).type === "ObjectExpression",
    },
  ]);
  return { code, start: table.start, end: table.end, parts: new Map(rows) };
}

const smallAndShared = /[\\/]web[\\/]src[\\/](kit[\\/]time|live[\\/]use-inquiry|asks[\\/]answer-ask)\.tsx?$/;

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
    plugins: [faultsOfPage, schemasMadeForNothing, wordsWhereTheyAreSaid],
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
              // With small parts that several pages need: a file for each costs more than it saves.
              { name: "index", test: smallAndShared, minShareCount: 2 },
              // So is what shows texts and results.
              {
                name: "shown",
                test: /[\\/]web[\\/]src[\\/](displays|markdown)[\\/](?!ansi|terminal|diff)[^?]*$/,
              },
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
