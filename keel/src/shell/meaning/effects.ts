/** What a command may do to the world: for screens, and for rules that must not cover more than they say. */

import { destroys, isDestructiveCode } from "../programs/destroys.ts";
import { isSocketPath, usesNetwork } from "../programs/networks.ts";
import { interpreters } from "../programs/wrappers.ts";
import { writtenTo } from "../programs/writers.ts";
import { type NamedCommand, withInner } from "./commands.ts";
import { programOf } from "./inside.ts";
import { pathScope, type ShellScope } from "./path-scope.ts";
import { keepsNothing } from "./prove.ts";
import type { Redirection, ShellStep } from "./walk.ts";

export type Effects = {
  readonly writesOutside: boolean;
  readonly network: boolean;
  readonly destructive: boolean;
};

/** All steps count, also those that are nothing but a redirection. */
export function effectsOf(
  allSteps: readonly ShellStep[],
  commands: readonly NamedCommand[],
  scope: ShellScope,
): Effects {
  const all = commands.flatMap(withInner);
  // Then everything is possible, and nothing has to be looked at.
  if (all.some(({ hides, step }) => hides || step.words[0]?.kind !== "fixed"))
    return { writesOutside: true, network: true, destructive: true };
  const redirecting = allSteps.filter(({ redirections }) => redirections.length > 0);
  return {
    writesOutside:
      redirecting.some((step) => redirectsOutside(step, scope)) ||
      all.some((command) => writesOutside(command, scope)),
    network:
      redirecting.some(({ redirections }) => redirections.some(({ target }) => isSocketPath(target.text))) ||
      all.some(connects),
    destructive: redirecting.some(empties) || all.some(({ step }) => isDestructive(step)),
  };
}

/** Redirections that write somewhere. */
export const writingRedirections = ({ redirections }: ShellStep): Redirection[] =>
  redirections.filter(
    (redirection) => !keepsNothing(redirection) && /^(?:&?>|<>)/.test(redirection.operator),
  );

export function redirectsOutside(step: ShellStep, scope: ShellScope): boolean {
  return writingRedirections(step).some(({ target }) => {
    if (isSocketPath(target.text) || target.isProcess) return false;
    const { kind } = pathScope(target, step.directories, scope);
    return kind === "outside" || kind === "unknown";
  });
}

/** What the words of the program itself make it write. */
export function writesOutside({ step }: NamedCommand, scope: ShellScope): boolean {
  const { name, rest } = programOf(step);
  return writtenTo(name, rest).some((target) => {
    if (target === "outside") return true;
    const { kind } = pathScope(target, step.directories, scope);
    return kind === "outside" || kind === "unknown";
  });
}

function connects({ step }: NamedCommand): boolean {
  const { name, rest } = programOf(step);
  const texts = rest.map(({ text }) => text);
  return usesNetwork(name, texts) || (/awk$/.test(name) && texts.some((text) => /\/inet[46]?\//.test(text)));
}

/** `> file`, alone or behind a command that says nothing. */
function empties(step: ShellStep): boolean {
  const isSilent =
    step.words.length === 0 ||
    /^(?::|true|false)$/.test(step.words[0]?.text ?? "") ||
    step.words.some(({ text }) => text === "/dev/null");
  return (
    isSilent &&
    writingRedirections(step).some(({ operator, target }) => /^&?>\|?$/.test(operator) && !target.isProcess)
  );
}

function isDestructive(step: ShellStep): boolean {
  const { name, rest } = programOf(step);
  const texts = rest.map(({ text }) => text);
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
