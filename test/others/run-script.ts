// Runs a script of ours against a program of somebody else, in the folder in which it is installed: with a home and a
// project of its own, and the obedient model as its only provider.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { isObject, parseJson } from "../../keel/src/kernel/json.ts";
import { startModelServer } from "../../keel/src/testing/model-server.ts";
import { obey } from "./obedient-model.ts";

/** What stands behind the program: the original, its SDK with Keel as the executable, or Keel in place of the SDK. */
export type Behind = "original" | "executable" | "in process";

export type Check = {
  readonly name: string;
  readonly passed: boolean;
  readonly detail: string;
  /** What came back, where it is to be the same whatever stands behind the program. */
  readonly answer?: string;
};

export type ScriptRun = {
  readonly script: string;
  /** Where the program is installed. */
  readonly folder: string;
  readonly behind: Behind;
  /** The command of Keel; where the original is behind it is not told. */
  readonly keel: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
};

const scripts = path.join(import.meta.dirname, "scripts");
const patienceMs = 240_000;

/** The checks that the script made, in their order, and one more if it did not come to its end. */
export async function runScript(run: ScriptRun): Promise<Check[]> {
  const place = await realpath(await mkdtemp(path.join(tmpdir(), "keel-others-")));
  const [home, project] = [path.join(place, "home"), path.join(place, "project")];
  await Promise.all([home, project].map((folder) => mkdir(folder)));
  // Beside the program, so that its packages are found as a user's program finds them.
  const beside = path.join(run.folder, "scripts");
  await cp(scripts, beside, { recursive: true });
  const server = await startModelServer({
    script: obey,
    law: "none",
    check: run.behind === "original" ? "none" : "strict",
  });
  try {
    const env = {
      ...plainEnvironment(home, server.url),
      OTHERS_PROJECT: project,
      ...(run.behind === "original" ? {} : { OTHERS_KEEL: run.keel }),
      ...(run.behind === "in process" ? { OTHERS_IN_PROCESS: "1" } : {}),
      ...run.env,
    };
    const checks = await checksOf(path.join(beside, run.script), {
      cwd: run.folder,
      env,
      timeoutMs: run.timeoutMs ?? patienceMs,
    });
    const refused = [...server.requests, ...server.others].flatMap(({ violations }) => violations);
    if (run.behind !== "original")
      checks.push({
        name: "the model accepts every request",
        passed: refused.length === 0,
        detail: refused.join("; "),
      });
    return checks;
  } finally {
    await server.close();
    await rm(place, { recursive: true, force: true });
  }
}

/** No key, no home and no setting of whoever runs the tests; nothing that asks an address outside of this machine. */
function plainEnvironment(home: string, url: string): Record<string, string> {
  return {
    PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    LANG: "C.UTF-8",
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "test-key",
    IS_SANDBOX: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
}

async function checksOf(
  file: string,
  { cwd, env, timeoutMs }: { cwd: string; env: Record<string, string>; timeoutMs: number },
): Promise<Check[]> {
  const child = spawn(process.execPath, [file], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const checks: Check[] = [];
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(-4_000);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const value = parseJson(line);
    if (!isObject(value) || typeof value["check"] !== "string") return;
    checks.push({
      name: value["check"],
      passed: value["passed"] === true,
      detail: String(value["detail"] ?? ""),
      ...(typeof value["answer"] === "string" ? { answer: value["answer"] } : {}),
    });
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  checks.push({
    name: "the script comes to its end",
    passed: code === 0 && checks.length > 0,
    detail: code === 0 ? "" : `code ${code}: ${stderr}`,
  });
  return checks;
}

/** Versions that were really installed, for the table. */
export async function versionOf(folder: string, name: string): Promise<string> {
  const text = await readFile(path.join(folder, "node_modules", name, "package.json"), "utf8");
  const parsed = parseJson(text);
  return isObject(parsed) ? String(parsed["version"]) : "";
}
