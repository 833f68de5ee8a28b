/**
 * Where a shell stands when it ends, told by itself as its last act: into a file of its own, since its streams and
 * descriptors are the command's. What it says is a claim like any other: whoever goes by it looks at that folder first.
 */
import { constants } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import path from "node:path";

export type EndFolder = {
  /** What the shell is given beside the command. */
  dress(shell: "bash" | "sh", text: string): { readonly text: string; readonly env: Record<string, string> };
  /** Undefined where it said nothing, or nothing that is a path in valid text. */
  read(): Promise<string | undefined>;
  drop(): Promise<void>;
};

/** No path is longer. */
const maxBytes = 4_096;

/** Undefined where no file can be made. */
export async function endFolderFile(env: Readonly<Record<string, string>>): Promise<EndFolder | undefined> {
  const directory = await mkdtemp(path.join(env["TMPDIR"] || "/tmp", "keel-")).catch(() => undefined);
  if (directory === undefined) return undefined;
  const [told, start] = [path.join(directory, "end"), path.join(directory, "start")];
  // Whatever the command has set (`-e`, `-x`, noclobber): its own end stays as it is, and nothing of this is shown.
  const words = `{ set +x; } 2>/dev/null; command pwd -P 2>/dev/null >|${quoted(told)} || :`;
  const trap = `trap ${quoted(words)} EXIT`;
  const drop = (): Promise<void> => rm(directory, { recursive: true, force: true }).catch(() => undefined);
  try {
    // A shell with arguments is one that stands before the command's own and becomes it.
    await writeFile(start, `[ $# -gt 0 ] || { unset BASH_ENV; ${trap}; }\n`, { mode: 0o600 });
  } catch {
    await drop();
    return undefined;
  }
  return {
    // Bash reads it before the command, whose text stays what it is. Who has such a file already keeps it.
    dress: (shell, text) =>
      shell === "bash" && env["BASH_ENV"] === undefined
        ? { text, env: { BASH_ENV: start } }
        : { text: `${trap}; ${text}`, env: {} },
    read: () => readTold(told).catch(() => undefined),
    drop,
  };
}

/** Somebody may have put something else into its place: nothing is followed, waited for or read without a bound. */
async function readTold(file: string): Promise<string | undefined> {
  const opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await opened.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await opened.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    // One line feed is the end; any other belongs to a name.
    const said = buffer.subarray(0, bytesRead - 1);
    const isWhole = bytesRead <= maxBytes && buffer[bytesRead - 1] === 10 && !said.includes(0);
    const folder = isWhole ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(said) : "";
    return path.isAbsolute(folder) ? folder : undefined;
  } finally {
    await opened.close();
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
