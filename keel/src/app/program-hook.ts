/** A hook that is a function of the program which opens the session. */
import type { Hook } from "../engine/hooks/run.ts";

export type ProgramHook = Hook;
