// Stands where `ssh` would: takes its arguments, runs the command by `sh` with the environment of another machine, and
// carries bytes between. The line may be slow, and is cut where a seed says: `FAKE_SSH` names a file that says all that.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { randomOf } from "../store/random.ts";
import type { FakeSshConfig } from "./fake-ssh.ts";

const config = JSON.parse(readFileSync(process.env["FAKE_SSH"] ?? "", "utf8")) as FakeSshConfig;
const before = readFileSync(config.opened, "utf8").split("\n").length - 1;
const given = process.argv.slice(2);
appendFileSync(config.opened, `${JSON.stringify({ pid: process.pid, given })}\n`);
const at = given.indexOf("--");
const [destination = "", command = ""] = given.slice(at + 1);
if (destination === "nowhere") {
  process.stderr.write("ssh: Could not resolve hostname nowhere\r\n");
  process.exit(255);
}
process.stdout.write(config.noise ?? "");
const remote = spawn("sh", ["-c", command], {
  env: config.env,
  cwd: config.env["HOME"],
  stdio: ["pipe", "pipe", "inherit"],
});
remote.once("exit", (code) => setTimeout(() => process.exit(code ?? 255), config.delayMs ?? 0));

const random = randomOf(config.seed + before * 7_919);
const isCut = before > 0 && before <= config.cuts;
const kind = random.pick(["end", "silence", "remote"] as const);
const direction = random.pick(["up", "down"] as const);
let left = isCut ? 1 + random.below(config.maxBytes) : Number.POSITIVE_INFINITY;
let isSilent = false;

function cut(): void {
  if (kind === "silence") {
    isSilent = true;
    return;
  }
  if (kind === "remote") remote.kill("SIGKILL");
  process.exit(255);
}

function carry(from: NodeJS.ReadableStream, to: NodeJS.WritableStream, way: "up" | "down"): void {
  from.on("data", (chunk: Buffer) => {
    if (isSilent) return;
    const isCounted = way === direction;
    const piece = isCounted && chunk.length >= left ? chunk.subarray(0, left) : chunk;
    const isLast = isCounted && chunk.length >= left;
    if (isCounted) left -= piece.length;
    const send = (): void => {
      if (isSilent) return;
      to.write(piece);
      if (isLast) setTimeout(cut, 5);
    };
    if (config.delayMs) setTimeout(send, config.delayMs);
    else send();
  });
}
remote.stdin.on("error", () => undefined);
process.stdout.on("error", () => process.exit(255));
carry(process.stdin, remote.stdin, "up");
carry(remote.stdout, process.stdout, "down");
process.stdin.once("end", () => remote.stdin.end());
