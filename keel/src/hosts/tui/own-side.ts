/** What only the process at the terminal can do: its files, its programs, its own life. */
import { randomUUID } from "node:crypto";
import { appendFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fingerprint } from "../../kernel/text.ts";
import type { OwnSide, PastedImage, ScreenEnvironment } from "./screen/host.ts";

/** Larger pictures are no pictures for a model. */
const maxImageBytes = 20 * 1024 * 1024;
const maxHistory = 2_000;

const mediaTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

export function ownSide({
  env,
  home,
  process: self,
}: {
  readonly env: ScreenEnvironment;
  /** Where Keel keeps its own files. */
  readonly home: string;
  readonly process: Pick<NodeJS.Process, "pid" | "kill" | "once">;
}): OwnSide {
  return {
    async editText(text) {
      const { editOutside } = await import("../../app/maintenance/person-programs.ts");
      return editOutside(text, env);
    },
    async clipboardImage() {
      const { clipboardPng } = await import("../../app/maintenance/person-programs.ts");
      const bytes = await clipboardPng(env);
      return bytes && { name: "clipboard", mediaType: "image/png", data: bytes.toString("base64") };
    },
    readImage: (file) => readImage(file.replace(/^~(?=\/)/, env["HOME"] ?? "~")),
    readHistory: (cwd) => readHistory(historyFile(home, cwd)),
    async addHistory(cwd, text) {
      const file = historyFile(home, cwd);
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await appendFile(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    },
    branchOf,
    async statusLine(command, facts) {
      const { ownLine } = await import("../../app/maintenance/person-programs.ts");
      return ownLine(command, facts, env);
    },
    suspend: () =>
      new Promise((resolve) => {
        self.once("SIGCONT", () => resolve());
        self.kill(self.pid, "SIGTSTP");
      }),
    newId: () => randomUUID(),
    async writeExport(name, text) {
      const file = path.resolve(env["PWD"] ?? ".", name);
      await writeFile(file, text, { mode: 0o600 });
      return file;
    },
  };
}

/** What was typed in a folder, over all sessions. */
const historyFile = (home: string, cwd: string): string =>
  path.join(
    home,
    "input-history",
    `${path
      .basename(cwd)
      .replace(/[^\w.-]/g, "_")
      .slice(0, 40)}-${fingerprint(cwd)}.jsonl`,
  );

async function readHistory(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const entries = text.split("\n").flatMap((line): string[] => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === "string" ? [entry] : [];
    } catch {
      return []; // The last line may be half written, or the file be somebody else's.
    }
  });
  if (entries.length <= maxHistory * 2) return entries.slice(-maxHistory);
  const kept = entries.slice(-maxHistory);
  await writeFile(file, `${kept.map((entry) => JSON.stringify(entry)).join("\n")}\n`, { mode: 0o600 });
  return kept;
}

async function readImage(file: string): Promise<PastedImage | undefined> {
  const mediaType = mediaTypes[path.extname(file).toLowerCase()];
  const found = await stat(file).catch(() => undefined);
  if (mediaType === undefined || !found?.isFile() || found.size > maxImageBytes) return undefined;
  return { name: path.basename(file), mediaType, data: (await readFile(file)).toString("base64") };
}

/** By the files of the repository alone: no program runs for it. */
export async function branchOf(cwd: string): Promise<string | undefined> {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const found = await headOf(path.join(folder, ".git"));
    if (found !== undefined) return found === "" ? undefined : found;
    if (folder === path.dirname(folder)) return undefined;
  }
}

/** Empty where there is a repository and no name. */
async function headOf(git: string): Promise<string | undefined> {
  const found = await stat(git).catch(() => undefined);
  if (!found) return undefined;
  const folder = found.isFile() ? await linkedFolder(git) : git;
  const head = await readFile(path.join(folder, "HEAD"), "utf8").catch(() => "");
  const [, branch] = /^ref: refs\/heads\/(.+)\s*$/.exec(head) ?? [];
  return branch ?? head.trim().slice(0, 8);
}

async function linkedFolder(file: string): Promise<string> {
  const [, folder = ""] = /^gitdir: (.+)\s*$/.exec(await readFile(file, "utf8").catch(() => "")) ?? [];
  return path.resolve(path.dirname(file), folder);
}
