/**
 * Confined by namespaces of the kernel, made with util-linux: a file system, a process table, a network and a table of
 * users of their own. One set-up serves many programs; each enters it with `nsenter`, which costs a few milliseconds.
 * Mounts belong to an outer table of users in which no program inside has any right: there is nothing to be undone.
 */
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { release } from "node:os";
import { fault } from "../../kernel/fault.ts";
import { closingText, leakedDescriptors, type Program } from "../processes/launch.ts";
import { letGo } from "../processes/let-go.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import { spawned } from "../processes/spawned.ts";
import { systemPath, systemProgram } from "../processes/system-programs.ts";
import { type MountPlan, type MountStep, mountPoints, readMounts } from "./mount-plan.ts";

/** A set of namespaces that stands. */
export type Box = {
  readonly weaknesses: readonly string[];
  /** What a program is started with to be inside: these words before its own. */
  enter(program: Program): Program;
  /** Whether anything runs in it that was not there at its start. */
  isUsed(): boolean;
  /** Calls back when something in it has ended, until what it returns is called. */
  onEnded(listener: () => void): () => void;
  readonly gone: Promise<void>;
  close(): Promise<void>;
};

export type BoxWishes = {
  readonly plan: MountPlan;
  /** An empty folder that only this one has: the new root is put together there. */
  readonly base: string;
  readonly nested: "allowed" | "refused";
  /** Folders that were made to be covered. */
  readonly made: readonly string[];
  /** Programs that run in it from its start: bridges to what is outside. Each says a line when it is ready. */
  readonly beside: readonly (readonly string[])[];
};

type BoxContext = { readonly guard: ProcessGuard; readonly search?: string | undefined };

const maxStartMs = 10_000;
const maxReasonCharacters = 300;
/** Where its table of users is kept, inside. */
const usersInside = "/run/keel/users";
/** A bomb of forks ends here, and not at the end of the machine's table. */
const maxProcesses = 4_096;

/**
 * The first process, as root of the outer table of users: mounts, changes the root, makes the inner table of users, and
 * then does what the first process of a guard does.
 */
const words = `set -e
root=$1 uid=$2 gid=$3 nested=$4 most=$5
shift 5
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root"
while [ $# -gt 0 ]; do
  at=$root$2
  case $1 in
    folder) mkdir -p -- "$at"; shift 2 ;;
    file) [ -e "$at" ] || : >"$at"; shift 2 ;;
    link) ln -s -- "$3" "$at"; shift 3 ;;
    bind) mount -o "$4" -- "$3" "$at"; shift 4 ;;
    flags) mount -o "remount,bind,$3" -- "$at"; shift 3 ;;
    empty) mount -t tmpfs -o "mode=$3,nosuid,nodev" tmpfs "$at"; shift 3 ;;
    cover) : >"$root/.cover"; chmod 000 "$root/.cover"; mount -o bind,ro "$root/.cover" "$at"; shift 2 ;;
    scratch)
      up=$root/.scratch/$#
      mkdir -p "$up/upper" "$up/work"
      mount -t overlay -o "userxattr,lowerdir=$2,upperdir=$up/upper,workdir=$up/work" overlay "$at" 2>/dev/null ||
        mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$at"
      shift 2 ;;
    --) shift; break ;;
    *) echo "unknown step $1" >&2; exit 1 ;;
  esac
done
mkdir "$root/proc" "$root/dev" "$root/.old"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o mode=755,nosuid,noexec tmpfs "$root/dev"
for name in null zero full random urandom tty; do
  : >"$root/dev/$name"
  mount -o bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
for name in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${name%:*}" "$root/dev/\${name#*:}"; done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" 2>/dev/null &&
  ln -s pts/ptmx "$root/dev/ptmx" || :
{ ip link set lo up || ifconfig lo up || perl -e '
  socket(S, 2, 2, 0); $r = pack("a16s", "lo", 0); ioctl(S, 0x8913, $r);
  $r = pack("a16s", "lo", unpack("x16s", $r) | 1); ioctl(S, 0x8914, $r) or exit 1'; } 2>/dev/null || echo "no loopback"
[ "$nested" = allowed ] || echo 1 >"$root/proc/sys/user/max_user_namespaces" 2>/dev/null || echo "nested"
[ "$most" = 0 ] || echo "$most" >"$root/proc/sys/kernel/pid_max" 2>/dev/null || :
mkdir "$root/run/keel"
: >"$root/run/keel/users"
cd "$root"
pivot_root . .old
cd /
umount -l /.old
rmdir /.old
coproc users { exec unshare --user --map-user="$uid" --map-group="$gid" sh -c 'echo; read -r line'; }
read -r line <&"\${users[0]}"
mount -o bind "/proc/$users_PID/ns/user" /run/keel/users
kill "$users_PID"
wait "$users_PID" || :
mount -o remount,bind,ro,nosuid,nodev,noexec /proc
mount -o remount,bind,ro,nosuid,noexec /dev
mount -o remount,bind,ro,nosuid,nodev /
set +e
while [ $# -gt 0 ]; do
  many=$1
  shift
  coproc beside { exec "\${@:1:$many}" </dev/null 2>/dev/null; }
  read -r -t 10 line <&"\${beside[0]}" || echo "no bridge"
  shift "$many"
done
trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM TSTP TTIN TTOU
trap 'echo' CHLD
echo ready || exit
while :; do cat <&0 >/dev/null & wait $!; [ $? -gt 128 ] || exit; done`;

/** What could not be had, and is not needed. */
const shortcomings: Readonly<Record<string, string>> = {
  "no loopback":
    "there is no loopback inside: nothing can tell the kernel to start it (ip, ifconfig or perl)",
  "no bridge": "the way out cannot be had inside: no host is reached",
  nested: "programs inside can make user namespaces of their own",
};

/** Throws a sentence where it cannot be made, or does not stand as it was planned. */
export async function openBox(wishes: BoxWishes, { guard, search = systemPath }: BoxContext): Promise<Box> {
  const post = await guard.post();
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const { file, args, options } = post.launch({
    file: "sh",
    args: [
      "-c",
      'echo "$$"; exec "$@"',
      "sh",
      "unshare",
      "--user",
      "--map-root-user",
      "--mount",
      "--propagation",
      "private",
      "--net",
      "--ipc",
      "--pid",
      "--fork",
      "--kill-child=KILL",
      "bash",
      "--norc",
      "--noprofile",
      "-c",
      words,
      "bash",
      wishes.base,
      String(uid),
      String(gid),
      wishes.nested,
      hasOwnPidMax() ? String(maxProcesses) : "0",
      ...wishes.plan.steps.flatMap(wordsOf),
      ...wishes.made.flatMap((at) => ["empty", at, "555"]),
      "--",
      ...wishes.beside.flatMap((program) => [String(program.length), ...program]),
    ],
    cwd: "/",
    // Nothing of the user's environment may change what it does.
    env: { PATH: search, HOME: "/" },
  });
  const child = spawned(file, args, { ...options, env: { ...options.env }, stdio: ["pipe", "pipe", "pipe"] });
  const [number = "", ...notes] = await untilReady(child);
  const place = `${post.table}/${number}`;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const close = async (): Promise<void> => {
    child.ref();
    child.stdin?.destroy();
    child.kill("SIGKILL");
    await gone;
  };
  const problem = whyNotAsPlanned(wishes.plan, `${place}/mountinfo`);
  if (problem !== undefined) {
    await close();
    throw fault("sandbox_unavailable", { reason: problem });
  }
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", tell);
  void gone.then(tell);
  child.stderr?.resume();
  // From here on it must not keep Keel alive: it ends with it.
  child.unref();
  for (const stream of child.stdio) letGo(stream);
  const inside = `${place}/root/proc`;
  const first = new Set(numbersIn(inside));
  return {
    weaknesses: notes.flatMap((note) => shortcomings[note] ?? []),
    enter: entryTo(place, uid),
    isUsed: () => numbersIn(inside).some((one) => !first.has(one)),
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    gone,
    close,
  };
}

/** Since Linux 6.14 a process table has a bound of its own; before, it is the machine's, and not ours to change. */
function hasOwnPidMax(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 6 || (major === 6 && minor >= 14);
}

/** A link that was put into a parent at the last moment would have led a mount elsewhere. */
function whyNotAsPlanned(plan: MountPlan, table: string): string | undefined {
  const there = new Set(readMounts(table).map(({ at }) => at));
  const lost = mountPoints(plan).find((at) => !there.has(at));
  return lost === undefined ? undefined : `${lost} was changed while it was covered`;
}

function numbersIn(table: string): number[] {
  try {
    return readdirSync(table).map(Number).filter(Boolean);
  } catch {
    return []; // It is gone.
  }
}

/**
 * Into the outer namespaces, then into the inner table of users, then without the last rights. Entering other mounts
 * leaves the working directory, so a shell goes back to it. Until then neither a path nor a library of the user's
 * environment is followed: a program inside may have put something there.
 */
function entryTo(place: string, uid: number): Box["enter"] {
  const spaces = `${place}/ns`;
  const leaked = leakedDescriptors();
  // Only bash can close descriptors of more than one digit.
  const shell = systemProgram(leaked.length === 0 ? "sh" : "bash");
  // `command`: the user's environment may bring a function of that name. Shells have two names for the bound of processes.
  const entering = `command cd -- "$0" && unset OLDPWD && { ulimit -p ${maxProcesses} || ulimit -u ${maxProcesses} || :; } 2>/dev/null && exec ${systemProgram("setsid")} "$@"${closingText(leaked)}`;
  const nsenter = systemProgram("nsenter");
  const before = [
    `--user=${spaces}/user`,
    "--preserve-credentials",
    `--mount=${spaces}/mnt`,
    `--pid=${spaces}/pid_for_children`,
    `--net=${spaces}/net`,
    `--ipc=${spaces}/ipc`,
    "--",
    nsenter,
    `--user=${usersInside}`,
    "--preserve-credentials",
    "--",
    // Whoever is not root has no rights to lose any more.
    systemProgram("setpriv"),
    "--no-new-privs",
    ...(uid === 0 ? ["--inh-caps=-all", "--bounding-set=-all"] : []),
    "--",
    shell,
    "-c",
    entering,
  ];
  return ({ file, args, cwd, env: given }) => {
    const loading = Object.entries(given).filter(([name]) => isForLoader(name));
    const env = Object.fromEntries(Object.entries(given).filter(([name]) => !isForLoader(name)));
    const later =
      loading.length === 0
        ? []
        : [systemProgram("env"), ...loading.map(([name, value]) => `${name}=${value}`)];
    return { file: nsenter, args: [...before, cwd, ...later, file, ...args], cwd: "/", env };
  };
}

/** What makes a program load code of somebody's choice. */
const isForLoader = (name: string): boolean => /^(?:LD_.*|GCONV_PATH|LOCPATH|NLSPATH)$/.test(name);

/** The lines before it was ready; the first is the number of the process that made it. */
function untilReady(child: ChildProcess): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let said = "";
    let complained = "";
    const refuse = (reason: string): void => {
      clearTimeout(late);
      child.kill("SIGKILL");
      reject(fault("sandbox_unavailable", { reason }));
    };
    const late = setTimeout(
      () => refuse(`it did not start within ${maxStartMs / 1_000} seconds`),
      maxStartMs,
    );
    // A pipe that breaks means that it ended, and that is heard of anyway.
    for (const stream of child.stdio) stream?.on("error", () => undefined);
    child.stderr?.on("data", (bytes: Buffer) => {
      complained = (complained + bytes.toString()).slice(-maxReasonCharacters);
    });
    const hear = (bytes: Buffer): void => {
      said += bytes.toString();
      const lines = said.split("\n");
      if (!lines.includes("ready")) return;
      clearTimeout(late);
      child.stdout?.off("data", hear);
      resolve(lines.slice(0, lines.indexOf("ready")));
    };
    child.stdout?.on("data", hear);
    child.once("error", () => refuse("unshare or bash is not installed"));
    child.once("close", () =>
      refuse(
        complained.split("\n").findLast((line) => line.trim() !== "" && !line.includes("dmesg(1)")) ||
          "it ended at once",
      ),
    );
  });
}

function wordsOf(step: MountStep): string[] {
  switch (step.do) {
    case "folder":
    case "file":
    case "scratch":
    case "cover":
      return [step.do, step.at];
    case "link":
      return ["link", step.at, step.to];
    case "bind":
      return ["bind", step.at, step.from, ["rbind", ...step.flags].join(",")];
    case "flags":
      return ["flags", step.at, step.flags.join(",")];
    case "empty":
      return ["empty", step.at, step.mode];
  }
}
