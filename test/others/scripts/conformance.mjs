// The scenarios of the conformance kit as checks: the official SDK with its own executable or with Keel's, and Keel.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { executable, inProcess, tell } from "./kit.mjs";

const words = [
  process.env.OTHERS_KIT,
  "--sdk",
  "node_modules/@anthropic-ai/claude-agent-sdk",
  "--json",
  "--jobs",
  "2",
];
const named = executable && !inProcess ? ["--executable", executable] : [];
const child = spawn(process.execPath, [...words, ...named], { stdio: ["ignore", "pipe", "inherit"] });
createInterface({ input: child.stdout }).on("line", (line) => {
  if (!line.startsWith("{")) return;
  const { family, scenario, status, differences } = JSON.parse(line);
  tell(`${family}/${scenario}`, status === "passed", differences?.join("; "));
});
