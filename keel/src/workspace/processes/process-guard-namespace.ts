/**
 * The strongest guard, on Linux: a PID namespace that dies with Keel, and with it every process that is in it, whatever
 * became of its parents, groups and sessions. Programs enter it with `nsenter`. Its first process takes in orphans,
 * fetches the dead, and says so: that is how the end of what a command left behind is noticed without looking.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { promisify } from "node:util";
import { toFault } from "../../kernel/fault.ts";
import { closingText, type Launch, leakedDescriptors, type Post } from "./launch.ts";
import { letGo } from "./let-go.ts";
import { spawned } from "./spawned.ts";

export type Namespace = {
  readonly post: Post;
  /** Settles when it is gone, and all that was in it. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
};

/** Where its programs are found. Nothing else of the user's environment may change what its first process does. */
type NamespaceOptions = { readonly path: string | undefined };

/** It starts in about ten milliseconds; on a machine that is this slow there are other troubles. */
const maxStartMs = 5_000;
const maxReasonCharacters = 300;

/** `passing`: it may work a moment later. */
type NoNamespace = { readonly why: string; readonly passing?: boolean };

/** A namespace that was entered once to see that it works, or why there is none. Never rejects. */
export async function openNamespace(home: NamespaceOptions): Promise<Namespace | NoNamespace> {
  if (process.platform !== "linux") return { why: `${process.platform} has no PID namespaces` };
  // Root needs no user namespace, and without one nothing changes for its commands; in some containers it has to.
  const ways: NamespaceKind[] = process.getuid?.() === 0 ? ["as it is", "own users"] : ["own users"];
  let why = "";
  for (const way of ways) {
    const opened = await openOne(home, way).catch((thrown: unknown): NoNamespace => {
      const { code, message } = toFault(thrown);
      return { why: message, passing: code === "descriptors_used_up" };
    });
    if ("post" in opened || opened.passing) return opened;
    why = opened.why;
  }
  return { why };
}

/** What the kernel kills when the thread that spawned it ends: the main thread, here. */
const dyingWithUs = ["setpriv", "--pdeathsig", "KILL"];

/** Whether it has a user namespace too: an ordinary user may make the other ones only inside such a one. */
type NamespaceKind = "as it is" | "own users";

/**
 * Process 1: bash, since it fetches orphans by itself and runs a trap at once while it waits. It waits for `cat`, and
 * `cat` for the end of Keel's pipe. Whoever kills `cat` from the inside changes nothing; signals are ignored.
 */
const first = `trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM TSTP TTIN TTOU
trap 'echo' CHLD
echo ready || exit
while :; do cat <&0 >/dev/null & wait $!; [ $? -gt 128 ] || exit; done`;

async function openOne({ path }: NamespaceOptions, way: NamespaceKind): Promise<Namespace | NoNamespace> {
  const env = { PATH: path };
  const unshare = [
    "unshare",
    ...(way === "own users" ? ["--user", "--map-current-user"] : []),
    // Mounts are seen as they are outside, before and after; only the process table differs.
    "--pid",
    "--fork",
    "--kill-child=KILL",
    "--mount-proc",
    "--propagation",
    "unchanged",
    "bash",
    "--norc",
    "--noprofile",
    "-c",
    first,
  ];
  // Where setpriv is absent, and until it has done its work, the pipe tells.
  for (const bound of [dyingWithUs, []]) {
    const [file = "", ...args] = [...bound, ...unshare];
    const child = spawned(file, args, { stdio: ["pipe", "pipe", "pipe"], detached: true, env });
    const started = await untilReady(child);
    // An old setpriv does not know that option.
    if (started === "absent" || started.startsWith("setpriv:")) continue;
    if (started !== "ready") return { why: started };
    const enter = entryTo(child.pid, way);
    const problem = await tryEntry(enter, env);
    // A change of the user namespace takes that back again: there it would only cost time.
    if (problem === undefined) return namespaceOf(child, enter, way === "as it is" ? bound : []);
    child.kill("SIGKILL");
    return { why: problem };
  }
  return { why: "unshare is not installed" };
}

/** By the files of the process that made it, our child: its number is not used again before we know of its end. */
function entryTo(pid: number | undefined, way: NamespaceKind): readonly string[] {
  const spaces = `/proc/${pid}/ns`;
  return [
    ...(way === "own users" ? [`--user=${spaces}/user`, "--preserve-credentials"] : []),
    `--mount=${spaces}/mnt`,
    `--pid=${spaces}/pid_for_children`,
  ];
}

function namespaceOf(child: ChildProcess, enter: readonly string[], bound: readonly string[]): Namespace {
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.stdout?.on("data", tell);
  void gone.then(tell);
  child.stderr?.resume();
  // From here on it must not keep Keel alive: it ends with it.
  child.unref();
  for (const stream of child.stdio) letGo(stream);
  return {
    post: {
      launch: launchInto(enter, bound),
      // Only those stand in it who are in the namespace.
      table: `/proc/${child.pid}/root/proc`,
      onEnded(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    gone,
    async close() {
      child.ref();
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/**
 * `nsenter` stays outside and waits: it ends as the program ends, by exit code or by signal. Entering other mounts
 * leaves the working directory, so a shell goes back to it; and since a leader that stands outside cannot be seen from
 * the inside, the program gets a session of its own there. When the program is stopped, `nsenter` stops too, and would
 * not notice any more that all is over: so it is bound to our own life as well.
 */
function launchInto(enter: readonly string[], bound: readonly string[]): Launch {
  const leaked = leakedDescriptors();
  // Only bash can close descriptors of more than one digit; it is there, or there would be no namespace.
  const shell = leaked.length === 0 ? "sh" : "bash";
  // `command`: the user's environment may bring a function of that name.
  const words = `command cd -- "$0" && unset OLDPWD && exec setsid "$@"${closingText(leaked)}`;
  const [file = "", ...before] = [...bound, "nsenter"];
  return ({ file: program, args, cwd, env }) => ({
    file,
    args: [...before, ...enter, shell, "-c", words, cwd, program, ...args],
    role: "doorkeeper",
    options: { cwd, env, detached: true },
  });
}

async function tryEntry(
  enter: readonly string[],
  env: { PATH: string | undefined },
): Promise<string | undefined> {
  try {
    await promisify(execFile)("nsenter", [...enter, "setsid", "true"], { env, timeout: maxStartMs });
    return undefined;
  } catch (thrown) {
    const said = thrown instanceof Error && "stderr" in thrown ? String(thrown.stderr) : "";
    return reasonFrom(said) || "nsenter or setsid is not installed";
  }
}

/** `ready`, `absent` when there is no such program, or what was said instead. */
function untilReady(child: ChildProcess): Promise<"ready" | "absent" | (string & {})> {
  return new Promise((resolve) => {
    let said = "";
    const late = setTimeout(() => {
      child.kill("SIGKILL");
      settle(`it did not start within ${maxStartMs / 1_000} seconds`);
    }, maxStartMs);
    const settle = (how: string): void => {
      clearTimeout(late);
      resolve(how);
    };
    // A pipe that breaks means that it ended, and that is heard of anyway.
    for (const stream of child.stdio) stream?.on("error", () => undefined);
    child.stderr?.on("data", (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(0, maxReasonCharacters);
    });
    child.stdout?.once("data", () => settle("ready"));
    child.once("error", () => settle("absent"));
    child.once("close", () => settle(reasonFrom(said) || "it ended at once"));
  });
}

const reasonFrom = (said: string): string => said.trim().split("\n")[0]?.slice(0, maxReasonCharacters) ?? "";
