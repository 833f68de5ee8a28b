/**
 * Programs of a model in namespaces of their own: no folder but those that Node itself needs, no network, a bound of memory,
 * time and words. All of a program ends with its place, whatever it has started.
 */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { asObject, type Json, parseJson } from "../../kernel/json.ts";
import type { ProgramResult, Programs } from "../../ports/programs.ts";
import type { Confinement } from "../../ports/sandbox.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import { spawned } from "../processes/spawned.ts";
import { LocalSandbox } from "../sandbox/sandbox.ts";
import { harness } from "./harness.ts";

/** Of its own: what calls take does not count. */
const maxOwnMs = 30_000;
const lookMs = 100;
const maxCpuSeconds = 60;
/** Its heap, and all that it may write to. */
const maxHeapMb = 256;
const maxDataKb = 1_500_000;
const maxPrinted = 100_000;
const maxLineBytes = 1_000_000;
const maxBytes = 20_000_000;
/** More at once than anybody means. */
const maxWaiting = 64;

export type ConfinedPrograms = Programs & {
  /** Why there can be none here; undefined where there can. */
  whyNot(): Promise<string | undefined>;
};

/** What a program has at most, as a person reads it. */
export const programBounds: readonly string[] = [
  `${maxOwnMs / 1_000} s beside its calls`,
  `${maxCpuSeconds} s of processor`,
  `${maxHeapMb} MB of heap`,
  `${maxPrinted.toLocaleString("en")} characters to print`,
];

export function confinedPrograms(
  env: Readonly<Record<string, string | undefined>>,
  guard: ProcessGuard,
): ConfinedPrograms {
  const open = (): LocalSandbox => new LocalSandbox({ env, guard });
  return {
    async whyNot() {
      const sandbox = open();
      try {
        const { layer, why } = await sandbox.describe();
        return layer === "none" ? (why ?? "there are no namespaces") : undefined;
      } finally {
        await sandbox.close();
      }
    },
    async run(program, signal) {
      const sandbox = open();
      try {
        const place = await sandbox.open(nothing());
        return await runIn(
          (file, args) => place.confine({ file, args, cwd: "/", env: inside }).program,
          program,
          {
            signal,
            end: () => sandbox.close(),
          },
        );
      } catch (thrown) {
        return {
          failed: true,
          words: thrown instanceof Error ? thrown.message : String(thrown),
          printed: "",
        };
      } finally {
        await sandbox.close();
      }
    },
  };
}

/** Nothing of the person's environment. The library of ciphers wants its settings from a folder that is not there. */
const inside = { PATH: "/usr/bin:/bin", OPENSSL_CONF: "/dev/null" };

/** What Node is made of; of every other folder nothing is seen. */
const needed: readonly string[] = [
  "/usr",
  "/lib",
  "/lib32",
  "/lib64",
  "/bin",
  "/sbin",
  "/proc",
  "/dev",
  "/sys",
];

function nothing(): Confinement {
  const folders = readdirSync("/")
    .map((name) => `/${name}`)
    .filter((at) => !needed.includes(at) && statSync(at, { throwIfNoEntry: false })?.isDirectory());
  return {
    writable: [],
    unwritable: [],
    unreadable: [...folders, "/usr/local/etc", "/usr/local/share"],
    readable: [path.dirname(process.execPath)],
    scratch: [],
    unixSockets: [],
    nested: "refused",
  };
}

type InsideLaunch = (
  file: string,
  args: readonly string[],
) => {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

function runIn(
  launch: InsideLaunch,
  { code, call }: Parameters<Programs["run"]>[0],
  { signal, end }: { readonly signal: AbortSignal; end(): Promise<void> },
): Promise<ProgramResult> {
  const limits = `ulimit -d ${maxDataKb}; ulimit -t ${maxCpuSeconds}; exec "$@"`;
  const node = [process.execPath, "--permission", `--max-old-space-size=${maxHeapMb}`, "-e", harness];
  const { file, args, cwd, env } = launch("/bin/sh", ["-c", limits, "sh", ...node]);
  const child = spawned(file, args, { cwd, env: { ...env }, stdio: ["pipe", "pipe", "ignore"] });
  let [printed, bytes, waiting, ownMs, text] = ["", 0, 0, 0, ""];
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (failed: boolean, words: string): void => {
      if (isOver) return;
      isOver = true;
      clearInterval(clock);
      signal.removeEventListener("abort", stop);
      child.kill("SIGKILL");
      void end().then(() => resolve({ failed, words, printed }));
    };
    const stop = (): void => finish(true, "It was stopped.");
    const clock = setInterval(() => {
      if (waiting === 0) ownMs += lookMs;
      if (ownMs > maxOwnMs) finish(true, `It took more than ${maxOwnMs / 1_000} seconds of its own.`);
    }, lookMs);
    const answer = (line: object): void => void (isOver || child.stdin?.write(`${JSON.stringify(line)}\n`));
    const take = (line: { readonly [name: string]: unknown }): void => {
      if (typeof line["done"] === "string") return finish(false, line["done"]);
      if (typeof line["failed"] === "string") return finish(true, line["failed"]);
      if (typeof line["print"] === "string" && printed.length < maxPrinted)
        printed = `${printed}${line["print"]}\n`.slice(0, maxPrinted);
      const { call: id, name, input } = line;
      if (typeof id !== "number" || typeof name !== "string") return;
      if (waiting >= maxWaiting) return answer({ id, failed: true, text: "Too many calls at once." });
      waiting++;
      void call(name, (input ?? {}) as Json)
        .catch((thrown: unknown) => ({ failed: true, text: String(thrown) }))
        .then((outcome) => {
          waiting--;
          answer({ id, ...outcome });
        });
    };
    signal.addEventListener("abort", stop, { once: true });
    child.stdin?.on("error", () => undefined);
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      bytes += chunk.length;
      text += chunk;
      if (bytes > maxBytes) return finish(true, "It wrote too much.");
      for (let at = text.indexOf("\n"); at >= 0 && !isOver; at = text.indexOf("\n")) {
        take(asObject(parseJson(text.slice(0, at))));
        text = text.slice(at + 1);
      }
      if (text.length > maxLineBytes) finish(true, "It wrote too much.");
    });
    child.once("close", (exit) =>
      finish(
        true,
        exit === 137 || exit === null
          ? "It was ended: it took too much."
          : `It ended by itself, with code ${exit}.`,
      ),
    );
    if (signal.aborted) stop();
    answer({ code });
  });
}
