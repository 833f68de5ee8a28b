// The rules: each takes what was read of the sources and returns sentences about what is wrong.
import { isBuiltin } from "node:module";
import path from "node:path";
import { type Capability, capabilities } from "./capabilities.ts";
import { layerOf, layers, publicEntries } from "./layers.ts";
import type { Import, Source } from "./source.ts";

export const MAX_LINES = 402;
export const SMELL_LINES = 300;

const isTest = (file: string) => file.endsWith(".test.ts") || file.endsWith(".test.tsx");
const isOurs = (file: string) => file.startsWith("keel/src/") || file.startsWith("web/src/");

/** Imports that the table of layers forbids. Tests may import what they need. */
export function forbiddenImports(sources: readonly Source[]): string[] {
  return judged(sources).flatMap((source) => {
    const layer = layerOf(source.file);
    if (!layer) return [`${source.file}: belongs to no layer of test/architecture/layers.ts`];
    return source.imports.flatMap((found) => {
      const wrong = whyForbidden(source.file, layer, found);
      return wrong ? [`${source.file}:${found.line}: ${wrong}`] : [];
    });
  });
}

function whyForbidden(file: string, layer: string, found: Import): string | undefined {
  const { specifier } = found;
  if (specifier === "<computed>") {
    return layer === "config" || layer === "app" ? undefined : `${layer} may not import() a computed path`;
  }
  if (isBuiltin(specifier)) return undefined; // The capabilities judge these.
  const target = resolveOurs(file, specifier);
  if (!target) return whyForbiddenPackage(layer, specifier);
  if (file.startsWith("keel/") && !specifier.startsWith("."))
    return `imports its own package as ${specifier}`;
  if (path.posix.basename(target) === "package.json") return undefined;
  const targetLayer = layerOf(target);
  if (!targetLayer) return `imports ${target}, which is outside the layers`;
  if (targetLayer === layer) return undefined;
  const row = layers[layer];
  const inLayer = target.slice("keel/src/".length);
  if (row?.imports.some((name) => name === targetLayer || name === inLayer)) return undefined;
  if (row?.lazyImports?.includes(targetLayer)) {
    return found.how === "dynamic" ? undefined : `${layer} may load ${targetLayer} with import() only`;
  }
  return `${layer} may not import ${targetLayer} (${specifier})`;
}

function whyForbiddenPackage(layer: string, specifier: string): string | undefined {
  const allowed = layers[layer]?.packages;
  const [scope = "", name] = specifier.split("/");
  const packageName = scope.startsWith("@") ? `${scope}/${name}` : scope;
  if (!allowed || allowed.includes(packageName)) return undefined;
  return `${layer} may not import the package ${packageName}`;
}

/** Cycles between files, type imports included; each is told once, as the path that closes it. */
export function importCycles(sources: readonly Source[]): string[] {
  const targets = new Map(sources.map((source) => [source.file, targetsOf(source)]));
  const settled = new Set<string>();
  const cycles: string[] = [];
  const follow = (file: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(file);
    if (seenAt >= 0) cycles.push([...trail.slice(seenAt), file].join(" → "));
    if (seenAt >= 0 || settled.has(file)) return;
    for (const target of targets.get(file) ?? []) follow(target, [...trail, file]);
    settled.add(file);
  };
  for (const file of targets.keys()) follow(file, []);
  return cycles;
}

function targetsOf(source: Source): string[] {
  const found = source.imports.map(({ specifier }) => resolveOurs(source.file, specifier));
  return [...new Set(found.filter((target) => target !== undefined))];
}

/** Files that only pass on what others own. */
export function barrelFiles(sources: readonly Source[]): string[] {
  const entries = Object.values(publicEntries);
  return sources
    .filter(({ file, isBarrel }) => isBarrel && !entries.includes(file))
    .map(({ file }) => `${file}: only re-exports; import from the file that owns the thing`);
}

/** Parts of the world that are touched outside their layer. */
export function strayCapabilities(sources: readonly Source[]): string[] {
  return judged(sources).flatMap((source) =>
    capabilities.flatMap((capability) => {
      const place = source.file.replace(/^keel\/src\//, "").replace(/^web\/src\//, "web/");
      if (isAllowed(capability, place)) return [];
      return usesOf(source, capability).map(
        ({ use, line }) => `${source.file}:${line}: ${use} touches ${capability.name}; ${capability.instead}`,
      );
    }),
  );
}

/** A row that ends in `transport/node/` does not open the rest of `transport/`: the listed prefix decides. */
function isAllowed({ allowedIn }: Capability, place: string): boolean {
  return allowedIn.some((allowed) => (allowed.endsWith("/") ? place.startsWith(allowed) : place === allowed));
}

function usesOf(source: Source, capability: Capability): { use: string; line: number }[] {
  const { globals = [], modules = [], names = {} } = capability;
  const covers = (general: string, special: string) =>
    special === general || special.startsWith(`${general}.`);
  const fromGlobals = source.references
    .filter(({ name }) => globals.some((one) => covers(one, name)))
    .map(({ name, line }) => ({ use: name, line }));
  const fromModules = source.imports.flatMap((found) => {
    if (!isBuiltin(found.specifier)) return [];
    const module = found.specifier.startsWith("node:") ? found.specifier : `node:${found.specifier}`;
    const whole = modules.some((one) => one === "node:" || module === one || module.startsWith(`${one}/`));
    const named = found.names.filter((name) => names[module]?.includes(name));
    if (!whole && named.length === 0) return [];
    return [{ use: [module, ...named].join(" "), line: found.line }];
  });
  return [...fromGlobals, ...fromModules];
}

/** Files that no longer fit two screens. */
export function longFiles(sources: readonly Source[], most: number): string[] {
  return sources
    .filter(({ lines }) => lines > most)
    .sort((a, b) => b.lines - a.lines)
    .map(({ file, lines }) => `${file}: ${lines} lines`);
}

const judged = (sources: readonly Source[]) => sources.filter(({ file }) => isOurs(file) && !isTest(file));

/** The file that a specifier names, when it is one of ours. */
function resolveOurs(file: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(file), specifier);
  return publicEntries[specifier];
}
