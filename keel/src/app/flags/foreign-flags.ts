/**
 * Flags of the interface that Keel is a drop-in for and that are no option here: what they ask for is somebody else's
 * service, or on anyway. Both doors know them, and pass them over with one line; what would make a program do something
 * else than it was told is refused.
 */
import { own } from "../../kernel/json.ts";
import { type PassOver, usage } from "./arguments.ts";

type ForeignFlag = "alone" | "value" | { readonly refused: string };

const foreignFlags: Readonly<Record<string, ForeignFlag>> = {
  "--advisor": "value",
  "--ax-screen-reader": "alone",
  "--brief": "alone",
  "--channels": "value",
  "--chrome": "alone",
  "--debug-file": "value",
  "--enable-auth-status": "alone",
  "--file": "value",
  "--init": "alone",
  "--maintenance": "alone",
  "--no-chrome": "alone",
  "--plugin-url": "value",
  "--prompt-suggestions": "alone",
  "--rc": "alone",
  "--remote-control": "alone",
  "--task-budget": "value",
  "--teammate-mode": "value",
  "--thinking-display": "value",
  "--tmux": "alone",
  "--workload": "value",
  "--bg": { refused: "Keel runs nothing after its command has ended" },
  "--background": { refused: "Keel runs nothing after its command has ended" },
  "--cloud": { refused: "Keel has no sessions on other machines" },
  "--from-pr": { refused: "sessions are not kept by pull request: name one with --resume" },
  "--init-only": { refused: "there are no Setup hooks to run" },
  "--remote": { refused: "Keel has no sessions on other machines" },
  "--teleport": { refused: "Use `keel teleport`" },
  "--worktree": { refused: "start in a worktree that `git worktree add` has made" },
  "-w": { refused: "start in a worktree that `git worktree add` has made" },
};

/**
 * Passes known flags over and keeps their names. `unknown`: what the table does not know either is passed over with what
 * seems to be its value, or is left to the parser. Throws a usage fault for what cannot be passed over.
 */
export function passingOver(passed: string[], unknown: "passed over" | "refused"): PassOver {
  return ({ spelling, inline, next }) => {
    const flag = own<ForeignFlag>(foreignFlags, spelling);
    if (flag === undefined && unknown === "refused") return undefined;
    if (typeof flag === "object") throw usage(`${spelling} does nothing here: ${flag.refused}.`);
    passed.push(spelling);
    const isFlag = spelling.startsWith("-");
    if (inline !== undefined || next === undefined || flag === "alone" || !isFlag) return 0;
    return flag === "value" || !next.startsWith("-") ? 1 : 0;
  };
}

export const sayPassedOver = (passed: readonly string[]): string =>
  `keel: without effect in this version: ${passed.join(", ")}`;
