/** The command line: finds the command, runs it, and ends the process when everything it wrote has arrived. */
import { fstatSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import manifest from "../../../package.json" with { type: "json" };
import { isWireInvocation } from "../../app/flags/arguments.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { secretsIn, withoutKeys, withoutSecrets } from "../../kernel/secrets.ts";
import type { CliCommand } from "./command.ts";
import { commands } from "./command-table.ts";
import type { Context } from "./context.ts";
import { Output } from "./output.ts";
import { catchSignals, takeable } from "./signals.ts";

/**
 * For an end in good order once the reader has gone. Whoever started us may be gone too, and nothing of us may outlive
 * it by more than two seconds: what has not stopped by then dies with the guard.
 */
const maxMsUnheard = 800;

export async function main(): Promise<void> {
  // Whatever is printed, by whomever, has no key in it. The files that hold some are read once, with the first text;
  // until who reads them has come, nobody else has read them either.
  let kept: (() => readonly string[]) | undefined;
  let known: readonly string[] | undefined;
  const secrets = (): readonly string[] => {
    known ??= kept?.();
    return known ?? secretsIn(process.env);
  };
  void import("../../app/maintenance/keys.ts").then(({ knownSecrets }) => {
    kept = () => knownSecrets({ env: process.env, cwd: process.env["PWD"] ?? "/" });
  });
  const crashes = takeable<unknown>((thrown) => {
    void fail(context, thrown).then((code) => end(context, code));
  });
  const context: Context = {
    crashes,
    version: manifest.version,
    env: process.env,
    get cwd() {
      return currentFolder();
    },
    // Opened when it is first read: most commands never do.
    get input() {
      return isNothing(0) ? Readable.from([]) : process.stdin;
    },
    // Programs read it: nothing that could be an ordinary word is taken out.
    out: new Output(process.stdout, (text) => withoutSecrets(text, secrets().filter(isLong))),
    err: new Output(process.stderr, (text) => withoutKeys(text, secrets())),
    signals: catchSignals(),
  };
  process.on("uncaughtException", crashes.give);
  process.on("unhandledRejection", crashes.give);
  const code = await run(process.argv.slice(2), context).catch((thrown: unknown) => fail(context, thrown));
  await end(context, code);
}

/** What schedulers and programs give as input where there is none: a stream of files would be opened to read nothing. */
function isNothing(descriptor: number): boolean {
  try {
    const given = fstatSync(descriptor);
    return given.isCharacterDevice() && given.rdev === statSync("/dev/null").rdev;
  } catch {
    return false;
  }
}

const isLong = (secret: string): boolean => secret.length >= 20;

async function run(given: readonly string[], context: Context): Promise<number> {
  if (isWireInvocation(given)) {
    endUnheard(context);
    const { streamJson } = await import("../executable/main.ts");
    return streamJson(given, context);
  }
  const [first = "", second = ""] = given;
  const group = commands.some(({ name }) => name.startsWith(`${first} `));
  const isCommand = commands.some(({ name }) => name === first);
  if (group && !isCommand && ["", "-h", "--help"].includes(second)) return showGroup(first, context);
  const found = commandFor(given);
  if (group && found.command.name === "")
    throw fault("usage", {
      reason: `There is no command ${JSON.stringify(`${first} ${second}`)}: \`keel ${first}\` lists those that there are.`,
    });
  if (found.command.unheard === undefined) endUnheard(context);
  return found.command.start(found.rest, context);
}

function endUnheard({ out }: Context): void {
  void out.closed.then(() => setTimeout(() => process.exit(exitCodes.outputClosed), maxMsUnheard).unref());
}

function commandFor(given: readonly string[]): { command: CliCommand; rest: readonly string[] } {
  for (const words of [2, 1]) {
    const command = commands.find(({ name }) => name !== "" && name === given.slice(0, words).join(" "));
    if (command) return { command, rest: given.slice(words) };
  }
  const [root] = commands;
  if (!root) throw new Error("the table of commands is empty");
  return { command: root, rest: given };
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw fault("usage", { reason: "The folder that Keel was started in does not exist any more.", cause });
  }
}

async function showGroup(name: string, context: Context): Promise<number> {
  const { helpForGroup } = await import("./help.ts");
  context.out.write(helpForGroup(name, commands));
  return exitCodes.ended;
}

async function fail(context: Context, thrown: unknown): Promise<number> {
  const { showFault } = await import("./print/outcome.ts");
  const found = toFault(thrown);
  showFault(context.err, found);
  return found.exitCode;
}

/** Pipes are written in the background: ending the process first would cut the output at what the pipe holds. */
async function end({ out, err }: Context, code: number): Promise<void> {
  await Promise.all([out.drained(), err.drained()]);
  process.exit(out.isClosed && code === exitCodes.ended ? exitCodes.outputClosed : code);
}
