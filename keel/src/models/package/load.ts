/** Loads a package of the AI SDK that a person has installed. It is never installed here, and never looked for in a project. */
import { createRequire } from "node:module";
import path from "node:path";
import { Fault, fault } from "../../kernel/fault.ts";
import { withoutKeys } from "../../kernel/secrets.ts";
import { shorten } from "../../kernel/text.ts";
import type { Endpoint } from "../providers.ts";
import { isPackageModel, knownVersions, type PackageModel } from "./contract.ts";

type Create = (options: Record<string, unknown>) => unknown;

/** Throws `package_missing` or `package_refused`. */
export function loadPackage(
  { provider, baseUrl, credential, package: wanted }: Endpoint,
  fetch: typeof globalThis.fetch,
): (model: string) => PackageModel {
  const { name = "", folders = [], options = {} } = wanted ?? {};
  const create = createIn(
    attempt(name, credential?.value, () => loadFrom(name, folders)),
    name,
  );
  const created = attempt(name, credential?.value, () =>
    create({
      name: provider,
      ...options,
      ...(baseUrl === "" ? {} : { baseURL: baseUrl }),
      ...(credential ? { apiKey: credential.value } : {}),
      fetch,
    }),
  );
  return (model) => {
    const made = attempt(name, credential?.value, () => languageModel(created, model));
    if (!isPackageModel(made)) throw refused(name, "it makes no language model");
    if (!knownVersions.includes(made.specificationVersion))
      throw refused(
        name,
        `it speaks version ${made.specificationVersion} of the contract, and not ${knownVersions.join(", ")}`,
      );
    return made;
  };
}

/** Beside Keel, where `npm install -g` puts it, or in one of the folders that were named. */
function loadFrom(name: string, folders: readonly string[]): object {
  // A path would load whatever stands there; a name is looked for where packages are.
  if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name)) throw refused(name, "that is no name of a package");
  for (const base of [import.meta.url, ...folders.map((folder) => path.join(folder, "x.js"))]) {
    const load = createRequire(base);
    try {
      load.resolve(name);
    } catch {
      continue; // Not there: the next place.
    }
    return load(name);
  }
  throw fault("package_missing", { package: name });
}

/** Every such package exports one function that makes a provider, by a name that starts so. */
function createIn(loaded: object, name: string): Create {
  const all = {
    ...("default" in loaded && typeof loaded.default === "object" ? loaded.default : {}),
    ...loaded,
  };
  const found = Object.entries(all).find(
    ([key, value]) => /^create[A-Z]/.test(key) && typeof value === "function",
  );
  if (!found) throw refused(name, "it exports nothing that makes a provider");
  return found[1] as Create;
}

function languageModel(created: unknown, model: string): unknown {
  if (
    (typeof created === "object" || typeof created === "function") &&
    created !== null &&
    "languageModel" in created
  )
    return (created.languageModel as (model: string) => unknown).call(created, model);
  return typeof created === "function" ? created(model) : undefined;
}

function attempt<T>(name: string, secret: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    throw refused(name, shorten(withoutKeys(words, secret === undefined ? [] : [secret]), 300));
  }
}

const refused = (name: string, reason: string) => fault("package_refused", { package: name, reason });
