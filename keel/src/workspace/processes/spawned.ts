/** A started program, whatever is lacking: no error of it is ever heard by nobody. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { fault } from "../../kernel/fault.ts";

/**
 * Throws `descriptors_used_up`. Where no descriptor is left Node gives back a child without streams, and tells of it later,
 * by an error that ends the process if nobody listens. Any other failure is told by the child's `error`.
 */
export function spawned(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(file, [...args], options);
  child.on("error", () => undefined);
  const { stdio }: { stdio?: ChildProcess["stdio"] | undefined } = child;
  if (stdio === undefined) throw fault("descriptors_used_up", { program: file });
  return child;
}
