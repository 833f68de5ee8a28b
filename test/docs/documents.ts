// Reads the documents and the names of all files of the repository, once per test file.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

export type Document = { readonly file: string; readonly text: string };

const leftOut = new Set(["node_modules", "dist", "coverage", ".git", ".keel-test"]);

/** Every file, from the root and with `/`; what is installed, built or left behind by a run is no file of ours. */
export function repositoryFiles(folder = ""): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (leftOut.has(entry.name) || entry.name.startsWith("dist.")) return [];
    const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? repositoryFiles(file) : [file];
  });
}

/** The pages that people read: those at the root and everything under docs/. */
export function readDocuments(files: readonly string[]): Document[] {
  return files
    .filter((file) => file.endsWith(".md") && (!file.includes("/") || file.startsWith("docs/")))
    .map((file) => ({ file, text: readText(file) }));
}

export function readText(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}
