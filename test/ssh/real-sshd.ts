// A real sshd on 127.0.0.1 for one test, with keys of its own; nothing of the machine's settings is read or changed.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

export type RealSshd = {
  readonly destination: string;
  /** The program and its options. */
  readonly command: readonly string[];
  /** Kills the newest ssh of this test. */
  cutHere(): void;
  /** Kills what sshd has started for it. */
  cutThere(): void;
};

const sshdPlaces = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];

/** What a shell there has, its home too; or why there is none. */
export async function startSshd(env: Readonly<Record<string, string>>): Promise<RealSshd | string> {
  const program = sshdPlaces.find((file) => existsSync(file));
  if (program === undefined) return "sshd absent";
  const folder = mkdtempSync(path.join(tmpdir(), "keel-sshd-"));
  chmodSync(folder, 0o700);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => path.join(folder, name);
  try {
    for (const name of ["host", "person"])
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
    // It wants this folder to be there when it is started as root.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  } catch {
    return "ssh-keygen absent, or /run/sshd cannot be made";
  }
  writeFileSync(at("allowed"), readFileSync(`${at("person")}.pub`), { mode: 0o600 });
  const port = await freePort();
  writeFileSync(
    at("sshd_config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${at("host")}`,
      `AuthorizedKeysFile ${at("allowed")}`,
      `PidFile ${at("pid")}`,
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "UsePAM no",
      "StrictModes no",
      "PermitRootLogin prohibit-password",
      `SetEnv ${Object.entries(env)
        .map(([name, value]) => `"${name}=${value}"`)
        .join(" ")}`,
      "",
    ].join("\n"),
  );
  const child = spawn(program, ["-D", "-e", "-f", at("sshd_config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words += chunk;
  });
  if (!(await answers(port, child))) return `sshd does not start: ${words.trim().split("\n").at(-1)}`;
  const user = userInfo().username;
  return {
    destination: `${user}@127.0.0.1`,
    command:
      `ssh -F none -p ${port} -i ${at("person")} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=${at("known")}`.split(
        " ",
      ),
    cutHere: () => killNewest((line) => line.includes(at("person")) && line.startsWith("ssh\0")),
    cutThere: () => killNewest((_, pid) => ancestors(pid).includes(child.pid ?? 0)),
  };
}

function killNewest(isMeant: (commandLine: string, pid: number) => boolean): void {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => other - one);
  for (const pid of pids) {
    try {
      if (!isMeant(readFileSync(`/proc/${pid}/cmdline`, "utf8"), pid)) continue;
      process.kill(pid, "SIGKILL");
      return;
    } catch {
      // Gone meanwhile.
    }
  }
}

function ancestors(pid: number): number[] {
  const all: number[] = [];
  for (let at = pid; at > 1 && all.length < 20; ) {
    const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${at}/stat`, "utf8"))?.[1] ?? 0);
    all.push(parent);
    at = parent;
  }
  return all;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === "object" ? address.port : 0;
}

async function answers(port: number, child: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}
