/** What a command sees of the process that it runs in: read once, in `main`, and passed on. */
import type { Readable } from "node:stream";
import type { Output } from "./output.ts";
import type { EndingSignal, Takeable } from "./signals.ts";

export type CliEnvironment = Readonly<Record<string, string | undefined>>;

export type Context = {
  readonly version: string;
  readonly env: CliEnvironment;
  readonly cwd: string;
  readonly input: Readable & { readonly isTTY?: boolean };
  /** For results only. */
  readonly out: Output;
  /** For everything that is said to a person beside the result. */
  readonly err: Output;
  readonly signals: Takeable<EndingSignal>;
  /** What nobody caught. */
  readonly crashes: Takeable<unknown>;
};
