import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { startMcpHttp } from "../fixtures/mcp-http.mjs";
import * as script from "./script.mjs";

/** The scenarios of one family: the module gets the helpers and returns a map from name to scenario. */
export async function loadFamily(scenarioFile) {
  const { default: define } = await import(pathToFileURL(scenarioFile));
  return define({ ...script, startMcpHttp });
}

/** All scenarios of a directory. */
export async function loadScenarios(directory) {
  const folder = path.join(directory, "scenarios");
  const scenarios = [];
  for (const file of fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".mjs"))
    .sort()) {
    const scenarioFile = path.join(folder, file);
    const family = path.basename(file, ".mjs");
    for (const [name, scenario] of Object.entries(await loadFamily(scenarioFile))) {
      scenarios.push({
        name,
        family,
        scenario,
        scenarioFile,
        expectedFile: path.join(directory, "expected", family, `${name}.json`),
      });
    }
  }
  return scenarios;
}

/** The URL of the module to test, from a file, a package directory, or a package name. */
export function resolveSdk(target) {
  if (!fs.existsSync(target)) return { sdkUrl: target, from: path.join(process.cwd(), "index.js") };
  const full = path.resolve(target);
  const file = fs.statSync(full).isDirectory() ? entryOf(full) : full;
  return { sdkUrl: pathToFileURL(file).href, from: file };
}

/** zod comes with the SDK under test, unless another place is named. */
export function resolveZod(explicit, from) {
  if (explicit) return resolveSdk(explicit).sdkUrl;
  for (const base of [from, path.join(process.cwd(), "index.js")]) {
    try {
      return pathToFileURL(createRequire(base).resolve("zod")).href;
    } catch {
      // try the next place
    }
  }
  return undefined;
}

function entryOf(directory) {
  const manifest = JSON.parse(fs.readFileSync(path.join(directory, "package.json"), "utf8"));
  const entry =
    target(manifest.exports?.["."] ?? manifest.exports) ?? manifest.module ?? manifest.main ?? "index.js";
  return path.join(directory, entry);
}

function target(exported) {
  if (exported === undefined || typeof exported === "string") return exported;
  return target(exported.import ?? exported.node ?? exported.default);
}
