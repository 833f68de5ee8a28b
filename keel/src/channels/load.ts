/** Loads the library of a channel that a person has installed. It is never installed here, and never looked for in a project. */
import { createRequire } from "node:module";
import { fault } from "../kernel/fault.ts";

/** Throws `package_missing`, and `package_refused` for one that does not export what is needed. */
export function loadLibrary<T extends object>(
  name: string,
  isOne: (loaded: object) => loaded is T,
  load: (name: string) => unknown = createRequire(import.meta.url),
): T {
  let loaded: unknown;
  try {
    loaded = load(name);
  } catch {
    throw fault("package_missing", { package: name });
  }
  if (typeof loaded === "object" && loaded !== null && isOne(loaded)) return loaded;
  throw fault("package_refused", { package: name, reason: "it does not export what Keel needs of it" });
}
