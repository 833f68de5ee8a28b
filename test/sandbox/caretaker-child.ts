// Starts what tidies up after a folder and a program that goes on to write into it for a moment, and is killed.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { startCaretaker } from "../../keel/src/workspace/sandbox/caretaker.ts";

const [own = ""] = process.argv.slice(2);
mkdirSync(own);
startCaretaker(own);
const writes = 'i=0; while [ $i -lt 40 ]; do i=$((i + 1)); mkdir -p "$0/root/$i"; sleep 0.02; done';
spawn("sh", ["-c", writes, own], { stdio: "ignore", detached: true }).once("spawn", () =>
  process.kill(process.pid, "SIGKILL"),
);
