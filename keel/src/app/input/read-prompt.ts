/** The whole text that a command or skill puts to the model: loaded, filled, its commands run by leave, its files attached. */
import type { PromptFile, PromptText } from "../../config/definitions/library-files.ts";
import { resultOf } from "../../kernel/one-by-one.ts";
import { shorten } from "../../kernel/text.ts";
import type { ShellOutcome } from "../../ports/shell.ts";
import type { InputBlock } from "../../protocol/message.ts";
import { type AttachContext, attach } from "./attach-mentions.ts";
import { fillPrompt, type PromptPiece } from "./fill-prompt.ts";

export type ReadPrompt =
  | {
      readonly ok: true;
      readonly text: string;
      /** Files that the text names. */
      readonly blocks: readonly InputBlock[];
      readonly loaded: PromptText;
      readonly problems: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

/** A look at the state of things; what takes longer is work for the model. */
const commandMs = 20_000;
const maxOutputBytes = 16 * 1024;
/** What one text may come to. */
const maxCharacters = 200_000;

export async function readPrompt(
  prompt: Pick<PromptFile, "name" | "load">,
  args: string,
  { world, signal }: { world: AttachContext; signal: AbortSignal },
): Promise<ReadPrompt> {
  const loaded = await prompt.load();
  if (typeof loaded === "string") return { ok: false, why: loaded };
  const problems: string[] = [];
  const parts: string[] = [];
  for (const piece of fillPrompt(loaded.body, args)) {
    if (piece.kind === "text") {
      parts.push(piece.text);
      continue;
    }
    const output = await outputOf(piece, { name: prompt.name, loaded, world, signal, problems });
    if (output === undefined) return { ok: false, why: "It was interrupted." };
    parts.push(output);
  }
  const attached = await attach(loaded.body, world);
  const text = shorten(parts.join(""), maxCharacters);
  return { ok: true, text, blocks: attached.blocks, loaded, problems: [...problems, ...attached.problems] };
}

/** Undefined when the person wants nothing more of it. */
async function outputOf(
  { command }: Extract<PromptPiece, { kind: "command" }>,
  {
    name,
    loaded,
    world,
    signal,
    problems,
  }: { name: string; loaded: PromptText; world: AttachContext; signal: AbortSignal; problems: string[] },
): Promise<string | undefined> {
  const refuse = (because: string): string => {
    problems.push(`/${name} did not run ${JSON.stringify(command)}: ${because}.`);
    return `(not run: ${because})`;
  };
  if (!loaded.trusted) return refuse("the project is not trusted");
  const allowed = await world.policy.mayRun(command, loaded.allow);
  if (!allowed.ok) return allowed.isStopped ? undefined : refuse(allowed.because);
  const run = world.workspace.shell.run(
    {
      text: allowed.command ?? command,
      cwd: world.workspace.cwd,
      timeoutMs: commandMs,
      maxBytes: maxOutputBytes,
    },
    signal,
  );
  return said(await resultOf(run));
}

function said({ output, exitCode, timedOut, omittedBytes }: ShellOutcome): string {
  const notes = [
    ...(timedOut ? ["stopped: it took too long"] : []),
    ...(!timedOut && exitCode !== 0 ? [`ended with code ${exitCode ?? "none"}`] : []),
    ...(omittedBytes > 0 ? [`${omittedBytes} bytes left out`] : []),
  ];
  return `${output.trim()}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}
