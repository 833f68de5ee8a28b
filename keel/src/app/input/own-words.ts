/**
 * What a person does beside the conversation: a command of their own, whose output goes along with their next words, and
 * something to remember. A rule that denies the command denies it here too; nothing else is asked about it.
 */
import { enclose } from "../../core/context/enclose.ts";
import { resultOf } from "../../kernel/one-by-one.ts";
import { shorten } from "../../kernel/text.ts";
import type { Memory } from "../../ports/memory.ts";
import { type InputBlock, text, textOf } from "../../protocol/message.ts";
import type { AttachContext } from "./attach-mentions.ts";

export type OwnWords = {
  /** What the person is told. */
  readonly said: string;
  /** What goes along with their next words; none where nothing does. */
  readonly content: InputBlock[] | undefined;
};

/** A person waits for their own command, and stops it by leaving. */
const commandMs = 10 * 60 * 1_000;
const maxOutputBytes = 64 * 1024;

export async function runOwnCommand(content: readonly InputBlock[], world: AttachContext): Promise<OwnWords> {
  const command = textOf([...content]).trim();
  if (command === "") return { said: "There is no command.", content: undefined };
  const { workspace, policy } = world;
  // Typing it is the leave; what denies or insists on a question is stronger.
  const allowed = await policy.mayRun(command, ["Bash"]);
  if (!allowed.ok) return { said: `Not run: ${allowed.because}.`, content: undefined };
  const ended = await resultOf(
    workspace.shell.run(
      {
        text: allowed.command ?? command,
        cwd: workspace.cwd,
        timeoutMs: commandMs,
        maxBytes: maxOutputBytes,
      },
      new AbortController().signal,
    ),
  );
  const { output, exitCode, timedOut, omittedBytes } = ended;
  const notes = [
    ...(timedOut ? ["stopped: it took too long"] : exitCode === 0 ? [] : [`exit code ${exitCode ?? "none"}`]),
    ...(omittedBytes > 0 ? [`${omittedBytes} bytes left out`] : []),
  ];
  const said = [output.trimEnd(), ...(notes.length > 0 ? [`(${notes.join("; ")})`] : [])]
    .filter(Boolean)
    .join("\n");
  const told = enclose(
    "keel-own-command",
    { command: shorten(command, 500) },
    said === "" ? "(no output)" : said,
  );
  return { said: `$ ${command}\n${said}`.trimEnd(), content: [text(told)] };
}

export async function rememberWords(
  content: readonly InputBlock[],
  memory: Memory | undefined,
): Promise<OwnWords> {
  const said = textOf([...content]).trim();
  if (!memory) return { said: "Nothing is kept over sessions here: memory is off.", content: undefined };
  if (said === "") return { said: "There is nothing to remember.", content: undefined };
  const description = shorten(said.replace(/\s+/g, " "), 120);
  const name = nameOf(said);
  const kept = await memory.remember({ name, type: "user", description, content: said });
  const told = enclose("keel-remembered", { note: name }, said);
  return kept.ok
    ? { said: `Remembered as ${name}.`, content: [text(told)] }
    : { said: `It could not be kept: ${kept.why}`, content: undefined };
}

/** A few words of it, as the name of a file. */
const nameOf = (words: string): string =>
  words
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .split("-")
    .slice(0, 6)
    .join("-")
    .slice(0, 60) || "note";
