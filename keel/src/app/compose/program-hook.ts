/** A hook that is a function of the program which opens the session. */
import type { Hook } from "../../hooks/run.ts";

export type ProgramHook = Hook;
