/** What a command may do to the world: for screens, and for rules that must not cover more than they say. */

import { destroys, isDestructiveCode } from "../programs/destroys.ts";
import { isSocketPath, usesNetwork } from "../programs/networks.ts";
import { interpreters } from "../programs/wrappers.ts";
import { writtenTo } from "../programs/writers.ts";
import { allSteps, type Command, withInner } from "./commands.ts";
import { programName } from "./inside.ts";
import { placeOf, type World } from "./places.ts";
import { keepsNothing } from "./prove.ts";
import type { Redirection, Step } from "./walk.ts";

export type Effects = {
  readonly writesOutside: boolean;
  readonly network: boolean;
  readonly destructive: boolean;
};

/** All steps count, also those that are nothing but a redirection. */
export function effectsOf(steps: readonly Step[], commands: readonly Command[], world: World): Effects {
  const all = commands.flatMap(withInner);
  // Then everything is possible, and nothing has to be looked at.
  if (all.some(({ hides, step }) => hides || step.words[0]?.kind !== "fixed"))
    return { writesOutside: true, network: true, destructive: true };
  const redirecting = allSteps(steps, commands).filter(({ redirections }) => redirections.length > 0);
  return {
    writesOutside:
      redirecting.some((step) => redirectsOutside(step, world)) ||
      all.some((command) => writesOutside(command, world)),
    network:
      redirecting.some(({ redirections }) => redirections.some(({ target }) => isSocketPath(target.text))) ||
      all.some(connects),
    destructive: redirecting.some(empties) || all.some(({ step }) => isDestructive(step)),
  };
}

/** Redirections that write somewhere. */
export const writingRedirections = ({ redirections }: Step): Redirection[] =>
  redirections.filter(
    (redirection) => !keepsNothing(redirection) && /^(?:&?>|<>)/.test(redirection.operator),
  );

export function redirectsOutside(step: Step, world: World): boolean {
  return writingRedirections(step).some(({ target }) => {
    if (isSocketPath(target.text) || target.isProcess) return false;
    const { kind } = placeOf(target, step.directories, world);
    return kind === "outside" || kind === "unknown";
  });
}

/** What the words of the program itself make it write. */
export function writesOutside({ step }: Command, world: World): boolean {
  const program = step.words[0];
  if (!program) return false;
  return writtenTo(programName(program), step.words.slice(1)).some((target) => {
    if (target === "outside") return true;
    const { kind } = placeOf(target, step.directories, world);
    return kind === "outside" || kind === "unknown";
  });
}

function connects({ step }: Command): boolean {
  const program = step.words[0];
  if (!program) return false;
  const name = programName(program);
  const texts = textsBehind(step);
  return usesNetwork(name, texts) || (/awk$/.test(name) && texts.some((text) => /\/inet[46]?\//.test(text)));
}

const textsBehind = ({ words }: Step): string[] => words.slice(1).map(({ text }) => text);

/** `> file`, alone or behind a command that says nothing. */
function empties(step: Step): boolean {
  const isSilent =
    step.words.length === 0 ||
    /^(?::|true|false)$/.test(step.words[0]?.text ?? "") ||
    step.words.some(({ text }) => text === "/dev/null");
  return (
    isSilent &&
    writingRedirections(step).some(({ operator, target }) => /^&?>\|?$/.test(operator) && !target.isProcess)
  );
}

function isDestructive(step: Step): boolean {
  const program = step.words[0];
  if (!program) return false;
  const name = programName(program);
  const texts = textsBehind(step);
  if (destroys(name, texts)) return true;
  if (name === "tee" && !texts.includes("-a") && !texts.includes("--append"))
    return texts.some((text) => text.startsWith("/") && !text.startsWith("/dev/"));
  if (
    step.redirections.some(({ target }) =>
      /^\/dev\/(?:sd|hd|nvme|vd|xvd|mmcblk|disk|mapper)/.test(target.text),
    )
  )
    return true;
  return Object.hasOwn(interpreters, name) && texts.some(isDestructiveCode);
}
