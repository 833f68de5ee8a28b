/** Programs of the person at the terminal, for a face that runs there: their editor, their clipboard, their own line. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fault } from "../../kernel/fault.ts";
import { commandEnvironment, type ProcessEnvironment } from "../../workspace/processes/environment.ts";
import { askProgram, runForeground } from "../../workspace/processes/foreground.ts";

/** Nobody waits longer for a line, or for a picture. */
const maxMs = 3_000;
const maxLineBytes = 10_000;
const maxImageBytes = 20 * 1024 * 1024;

/** The text as it was left in `$VISUAL` or `$EDITOR`. Throws `usage` where the editor fails: then nothing has changed. */
export async function editOutside(text: string, env: ProcessEnvironment): Promise<string> {
  const editor = env["VISUAL"]?.trim() || env["EDITOR"]?.trim() || "vi";
  const folder = await mkdtemp(path.join(tmpdir(), "keel-edit-"));
  const file = path.join(folder, "input.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    const code = await runForeground(editor, [file], commandEnvironment(env));
    if (code !== 0)
      throw fault("usage", { reason: `The editor ended with ${code ?? "a signal"}; nothing was changed.` });
    return (await readFile(file, "utf8")).replace(/\n$/, "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first line that a command of the person's own says about facts, which it gets as JSON. */
export async function ownLine(
  command: string,
  facts: object,
  env: ProcessEnvironment,
): Promise<string | undefined> {
  const said = await askProgram(["/bin/sh", "-c", command], {
    env: commandEnvironment(env),
    input: JSON.stringify(facts),
    timeoutMs: maxMs,
    maxBytes: maxLineBytes,
  });
  return said?.toString("utf8").split("\n")[0];
}

/** Who may have a picture, in the order in which they are asked. */
const clipboards: readonly (readonly string[])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];

/** A PNG; undefined where there is none, or nobody who could say so. */
export async function clipboardPng(env: ProcessEnvironment): Promise<Buffer | undefined> {
  for (const command of clipboards) {
    const bytes = await askProgram(command, {
      env: commandEnvironment(env),
      timeoutMs: maxMs,
      maxBytes: maxImageBytes,
    });
    if (bytes && bytes.length > 8) return bytes;
  }
  return undefined;
}
