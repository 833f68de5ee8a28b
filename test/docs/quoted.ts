// What the guide shows of an example: a region of the file, below the imports that it needs. Pasted into a file of its own
// it is a whole program: what the examples themselves need beside it (a scripted model, assertions) is not shown.
import { readText } from "./documents.ts";

/** The modules that a reader has. */
const shownModules = ["keel", "zod"];

export function regionOf(file: string, region: string): string | undefined {
  const [, code] =
    new RegExp(`^// #region ${region}\\n([\\s\\S]*?)^// #endregion$`, "m").exec(readText(file)) ?? [];
  return code;
}

export function quotedOf(file: string, region: string): string | undefined {
  const text = readText(file);
  const code = regionOf(file, region);
  if (code === undefined) return undefined;
  const imports = [...text.matchAll(/^import (type )?(.+) from "(.+)";$/gm)].flatMap(
    ([, only = "", names = "", module = ""]) =>
      shownModules.includes(module) ? importOf({ only, names, module, code }) : [],
  );
  return [...imports, ...(imports.length > 0 ? [""] : []), code].join("\n");
}

/** With the names alone that the code uses. */
function importOf(line: { only: string; names: string; module: string; code: string }): string[] {
  const { only, names, module, code } = line;
  const isUsed = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(code);
  const [, all] = /^\* as (\w+)$/.exec(names) ?? [];
  if (all !== undefined) return isUsed(all) ? [`import * as ${all} from "${module}";`] : [];
  const used = names
    .replace(/^\{ | \}$/g, "")
    .split(", ")
    .filter((name) => isUsed(name.replace(/^type /, "")));
  if (used.length === 0) return [];
  // A statement of types alone says so once.
  const isTypes = only !== "" || used.every((name) => name.startsWith("type "));
  const said = isTypes ? used.map((name) => name.replace(/^type /, "")) : used;
  return [`import ${isTypes ? "type " : ""}{ ${said.join(", ")} } from "${module}";`];
}
