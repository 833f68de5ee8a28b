/**
 * A program that speaks the words and formats of docker, podman or Apple's `container`, and really runs what it is told
 * to: as a process, with the paths of its mounts in place of those inside. It confines nothing.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export type FakeRuntime = {
  /** Its path, for `groups.runtime`. */
  readonly file: string;
  /** The words of every call. */
  calls(): string[][];
  /** What each container saw of the environment, by name. */
  seen(): Record<string, string>[];
};

export function fakeRuntime(
  folder: string,
  kind: "docker" | "podman" | "container",
  keel: string,
): FakeRuntime {
  const state = path.join(folder, "runtime-state");
  mkdirSync(path.join(state, "containers"), { recursive: true });
  const file = path.join(folder, kind);
  writeFileSync(file, `#!${process.execPath}\n${program(kind, state, keel)}`);
  chmodSync(file, 0o755);
  return {
    file,
    calls: () => lines(path.join(state, "calls")),
    seen: () => lines(path.join(state, "seen")),
  };
}

function lines<T>(file: string): T[] {
  try {
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

/** As if a container of an earlier life still ran. */
export function leaveContainer(folder: string, name: string, label: string, pid: number): void {
  const facts = { name, labels: { "keel.home": label }, pid };
  writeFileSync(path.join(folder, "runtime-state", "containers", name), JSON.stringify(facts));
}

/** What still runs is ended, with the program that started it. */
export function endContainers(folder: string): void {
  for (const name of runningIn(folder)) {
    const { pid } = JSON.parse(readFileSync(path.join(folder, "runtime-state", "containers", name), "utf8"));
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

export const runningIn = (folder: string): string[] =>
  readdirSync(path.join(folder, "runtime-state", "containers"));

const program = (kind: string, state: string, keel: string): string => `
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const [kind, state, keel] = ${JSON.stringify([kind, state, keel])};
const words = process.argv.slice(2);
const place = (name) => path.join(state, "containers", name);
fs.appendFileSync(path.join(state, "calls"), JSON.stringify(words) + "\\n");
const fail = (code, text) => { process.stderr.write(text + "\\n"); process.exit(code); };
const [verb, ...rest] = words;
const all = () => fs.readdirSync(path.join(state, "containers")).map((name) => JSON.parse(fs.readFileSync(place(name), "utf8")));
const isAlive = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };
if (verb === "--version") process.stdout.write(kind + " version 1\\n");
else if (verb === (kind === "container" ? "ls" : "ps")) {
  if (rest[0] !== "--format" || rest[1] !== "json") fail(kind === "container" ? 64 : 1, "unknown format");
  const rows = all();
  if (kind === "docker")
    for (const { name, labels } of rows)
      process.stdout.write(JSON.stringify({ ID: "x", Names: name, State: "running", Labels: Object.entries(labels).map(([k, v]) => k + "=" + v).join(",") }) + "\\n");
  else if (kind === "podman") process.stdout.write(JSON.stringify(rows.map(({ name, labels }) => ({ Id: "x", Names: [name], State: "running", Labels: labels }))));
  else process.stdout.write(JSON.stringify([...rows.map(({ name, labels }) => ({ status: "running", configuration: { id: name, labels } })), { status: "stopped", configuration: { id: "old", labels: {} } }]));
} else if (verb === "stop" || verb === "kill") {
  const name = rest.at(-1);
  if (!fs.existsSync(place(name))) fail(1, "no such container: " + name);
  const { pid } = JSON.parse(fs.readFileSync(place(name), "utf8"));
  try { process.kill(pid, verb === "stop" ? "SIGTERM" : "SIGKILL"); } catch {}
  const until = Date.now() + 3000;
  const wait = () => {
    if (!isAlive(pid) || Date.now() > until) {
      if (isAlive(pid)) try { process.kill(pid, "SIGKILL"); } catch {}
      fs.rmSync(place(name), { force: true });
      process.stdout.write(name + "\\n");
    } else setTimeout(wait, 20);
  };
  wait();
} else if (verb === "run") {
  const mounts = [], env = { PATH: process.env.PATH }, labels = {};
  let name = "", cwd = "/", at = 0;
  for (; at < rest.length; at++) {
    const word = rest[at];
    if (word === "-i" || word === "--rm") continue;
    if (word === "--name") name = rest[++at];
    else if (word === "--label") { const [k, v] = rest[++at].split("="); labels[k] = v; }
    else if (word === "-v" && kind !== "container") { const [source, target, mode] = rest[++at].split(":"); mounts.push({ source, target, mode }); }
    else if (word === "--mount" && kind === "container") { const f = Object.fromEntries(rest[++at].split(",").map((part) => part.split("="))); mounts.push(f); }
    else if (word === "-e") { const [k, ...v] = rest[++at].split("="); env[k] = v.length ? v.join("=") : process.env[k]; }
    else if (word === "-w") cwd = rest[++at];
    else if (word.startsWith("-")) fail(125, "unknown flag: " + word);
    else break;
  }
  const [image, program, ...more] = rest.slice(at);
  if (image === undefined || program === undefined) fail(125, "requires an image and a command");
  const outside = (text) => mounts.toSorted((a, b) => b.target.length - a.target.length).reduce((one, { source, target }) => one === target || one.startsWith(target + "/") ? source + one.slice(target.length) : one, text);
  fs.appendFileSync(path.join(state, "seen"), JSON.stringify(env) + "\\n");
  const mapped = Object.fromEntries(Object.entries(env).map(([k, v]) => [k, outside(v)]));
  const child = spawn(program === "keel" ? keel : program, more, { cwd: outside(cwd), env: mapped, stdio: ["pipe", "inherit", "inherit"] });
  process.stdin.pipe(child.stdin);
  child.stdin.on("error", () => {});
  fs.writeFileSync(place(name), JSON.stringify({ name, labels, pid: child.pid }));
  child.on("exit", (code) => { fs.rmSync(place(name), { force: true }); process.exit(code ?? 137); });
} else fail(1, "unknown command: " + verb);
`;
