/** The program that searches: ripgrep from its package, else from the user's path. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

type SearchProgramEnvironment = Readonly<Record<string, string | undefined>>;

export type SearchProgram = { readonly file: string; readonly from: "package" | "path" };

const name = process.platform === "win32" ? "rg.exe" : "rg";

export async function findSearchProgram(
  env: SearchProgramEnvironment,
  packaged: string | undefined = packagedProgram(),
): Promise<SearchProgram | undefined> {
  if (packaged !== undefined && (await isProgram(packaged))) return { file: packaged, from: "package" };
  // A relative entry would let the folder in which Keel works choose the program.
  const places = (env["PATH"] ?? "").split(path.delimiter).filter((place) => path.isAbsolute(place));
  for (const place of places) {
    const file = path.join(place, name);
    if (await isProgram(file)) return { file, from: "path" };
  }
  return undefined;
}

/** The package for this platform is a dependency of the package that we name, and may only be visible from there. */
function packagedProgram(): string | undefined {
  try {
    const outer = createRequire(import.meta.url).resolve("@vscode/ripgrep");
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return createRequire(outer).resolve(`${platform}/bin/${name}`);
  } catch {
    return undefined; // Not installed, or not for this platform.
  }
}

export const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
