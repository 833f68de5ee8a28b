// Bundles the command. What `keel -p` needs for an answer stands in one file, since finding, reading and linking a
// hundred small ones took longer than all that it does before its first request; the rest is loaded when it is reached.
// As CommonJS: Node keeps its compiled code whole, and a `require` of `node:http` does not load `fetch` as an import does.
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { rolldown } from "rolldown";
import { root } from "./run.mjs";

const entry = "keel/src/hosts/cli/main.ts";
/** Reached by `import()` at every answer. */
const soonReached = [
  "keel/src/hosts/cli/print/root.ts",
  "keel/src/hosts/cli/print/print.ts",
  "keel/src/app/open-session.ts",
  "keel/src/models/anthropic/model.ts",
  "keel/src/app/maintenance/keys.ts",
];
/** Modules of Node that take milliseconds to load, and that a start may not need. */
const loadedLate = [
  "node:child_process",
  "node:crypto",
  "node:dns/promises",
  "node:http",
  "node:https",
  "node:readline",
  "node:timers/promises",
  "node:v8",
  "node:worker_threads",
  "node:zlib",
];

const schemasLater = "\0late-schemas.cjs";
/** What is used of the library of schemas: a file of its own, since most answers need none of it. */
const library = "\0schemas.mjs";

/** Writes the bundle into the folder; returns the number of bytes, and which source is imported by which. */
export async function bundleCommand(folder, define) {
  const imports = {};
  const bundle = await rolldown({
    cwd: root,
    input: { main: entry, schemas: library },
    platform: "node",
    // It loads its own binary, by the name of the machine.
    external: ["@lydell/node-pty"],
    transform: { define },
    // Its entry for CommonJS hides what it requires from a bundler.
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    plugins: [lateModules(), lateSchemas(), importsInto(imports)],
    onLog(level, log, give) {
      // Code of others that compiles code, and sources that are late in one place and not in another: both are meant.
      if (!["EVAL", "INEFFECTIVE_DYNAMIC_IMPORT"].includes(log.code)) give(level, log);
    },
  });
  // Known when everything is read, which is before the first question.
  let soon;
  const isSoon = (id) => {
    soon ??= reachedFrom([entry, ...soonReached], imports);
    return soon.has(relative(id));
  };
  let ofSchemas;
  const isOfSchemas = (id) => {
    ofSchemas ??= reachedFrom([relative(library)], imports);
    return ofSchemas.has(relative(id));
  };
  const { output } = await bundle.write({
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
    comments: { legal: false, annotation: false, jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
    codeSplitting: {
      groups: [
        { name: "answer", test: isSoon },
        { name: "schemas", test: (id) => id === library || isOfSchemas(id) },
      ],
    },
  });
  await bundle.close();
  const code = output.filter(({ type }) => type === "chunk");
  await Promise.all(
    code.map((chunk) => writeFile(path.join(folder, chunk.fileName), inAscii(withPlainExports(chunk.code)))),
  );
  return { bytes: code.reduce((sum, chunk) => sum + Buffer.byteLength(chunk.code), 0), imports };
}

/**
 * What a file gives to others is told by a function for each of six hundred names, which took three milliseconds of every
 * start. What has its value when the file was run is given as it is; what gets or changes it later is a `let`, or a `var` without a value.
 */
function withPlainExports(code) {
  const later = new Set(
    parseSync("chunk.cjs", code)
      .program.body.filter(({ type, kind }) => type === "VariableDeclaration" && kind !== "const")
      .flatMap(({ kind, declarations }) =>
        declarations.filter(({ init }) => kind === "let" || !init).map(({ id }) => id.name),
      ),
  );
  return code.replace(
    /Object\.defineProperty\(exports,("[\w$]+"),\{enumerable:true,get:function\(\)\{return ([\w$]+)\}\}\);/g,
    (whole, name, local) => (later.has(local) ? whole : `exports[${name}]=${local};`),
  );
}

/** One letter beyond Latin-1 would make the engine hold all of it in twice the memory. Letters stand only in literals. */
const inAscii = (code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

function importsInto(imports) {
  return {
    name: "imports",
    moduleParsed({ id, importedIds, dynamicallyImportedIds }) {
      imports[relative(id)] = {
        now: importedIds.map(relative),
        late: dynamicallyImportedIds.map(relative),
      };
    },
  };
}

const relative = (id) => path.relative(root, id.replace(/^\0/, root));

function reachedFrom(starts, imports) {
  const reached = new Set(starts);
  for (const file of reached) for (const next of imports[file]?.now ?? []) reached.add(next);
  return reached;
}

/** A stand-in for a module of Node, which loads it when something of it is first used. */
function lateModules() {
  return {
    name: "late-modules",
    resolveId: (source, importer) =>
      loadedLate.includes(source) && !importer?.startsWith("\0late:") ? `\0late:${source}.cjs` : undefined,
    load(id) {
      if (!id.startsWith("\0late:")) return undefined;
      const name = JSON.stringify(id.slice("\0late:".length, -".cjs".length));
      // By its prototype: the bundler copies what an object has itself, and would so load everything at once.
      return `
        const late = new Proxy({}, { get: (_, key) => (key === "__esModule" ? undefined : process.getBuiltinModule(${name})[key]) });
        module.exports = Object.create(late);`;
    },
  };
}

/** Schemas are made when they are first used, and the library with them: to make all of them took longer than to load them. */
function lateSchemas() {
  const stand = schemasLater;
  const names = usedNames();
  const texts = {
    [stand]: () =>
      `${readFileSync(path.join(root, "scripts/late-schemas.cjs"), "utf8")}
      module.exports = Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, standFor(name)]));
      module.exports.wholeLater = wholeLater;`,
    // Only what is used: the rest of the library, texts in fifty languages among it, stays out.
    [library]: () => `export { ${names.join(", ")} } from "zod/mini";`,
  };
  return {
    name: "late-schemas",
    resolveId(source, importer) {
      if (importer === stand) return { id: source, external: true };
      if (source === library) return library;
      return source === "zod/mini" && importer !== library ? stand : undefined;
    },
    load: (id) => texts[id]?.(),
    transform: (code, id) => (id.endsWith(".ts") ? withWholeLater(code, id) : undefined),
  };
}

/** Schemas that a file declares become functions: most starts ask none of them, and need not run a line of it. */
function withWholeLater(code, id) {
  if (!code.includes('from "zod/mini"')) return undefined;
  const declared = parseSync(id, code)
    .program.body.map((statement) => statement.declaration ?? statement)
    .filter(({ type }) => type === "VariableDeclaration")
    .flatMap(({ declarations }) => declarations.map(({ init }) => init))
    .filter((init) => init?.type === "CallExpression" && rootOf(init) === "z");
  if (declared.length === 0) return undefined;
  let changed = "";
  let at = 0;
  for (const { start, end } of declared) {
    changed += `${code.slice(at, start)}z.wholeLater(() => ${code.slice(start, end)})`;
    at = end;
  }
  // On the lines where it stood.
  return { code: changed + code.slice(at), map: null };
}

/** The name at which `z.object(…).check(…)` and its like begin. */
function rootOf(node) {
  if (node.type === "CallExpression") return rootOf(node.callee);
  return node.type === "MemberExpression" ? rootOf(node.object) : node.name;
}

/** What the sources use of the library, as their syntax says it: a pattern would be fooled by texts and comments. */
function usedNames() {
  const sources = globSync("keel/src/**/*.ts", { cwd: root, exclude: (name) => name.endsWith(".test.ts") });
  const found = new Set();
  for (const file of sources) {
    const text = readFileSync(path.join(root, file), "utf8");
    if (!text.includes('"zod/mini"')) continue;
    const visitor = new Visitor({
      MemberExpression({ object, property }) {
        if (object.type === "Identifier" && object.name === "z") found.add(property.name);
      },
    });
    visitor.visit(parseSync(file, text).program);
  }
  return [...found].sort();
}
