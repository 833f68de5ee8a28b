// However Keel ends, nothing of a place is left: no process, no mount, no folder.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { countOf, seed } from "./support/budget.ts";
import { notRunHere } from "./support/not-run.ts";
import { processesIn } from "./support/real-shell.ts";
import { verifies } from "./support/verifies.ts";

const child = path.resolve(import.meta.dirname, "sandbox/ends-child.ts");
const maxMs = 3_000;

test("a place leaves nothing behind, whatever ended its Keel", async () => {
  verifies("G38", "P10");
  const base = realpathSync(
    mkdtempSync(path.join(process.getuid?.() === 0 ? "/var/lib" : homedir(), "keel-ends-")),
  );
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const mounts = (): number => readFileSync("/proc/self/mountinfo", "utf8").split("\n").length;
  const before = mounts();
  const left: string[] = [];
  const first = seed();
  for (let round = 0; round < countOf("sandbox-ends"); round++) {
    const [root, temporary] = [path.join(base, `root-${round}`), path.join(base, `tmp-${round}`)];
    for (const folder of [root, temporary]) mkdirSync(folder);
    // By itself, killed while it works, killed by a softer signal, killed somewhere on the way.
    const how = (["close", "kill", "term", "early"] as const)[(first + round) % 4] ?? "close";
    const said = await endOne({ root, temporary, how, afterMs: (((first + round) * 7_919) % 600) + 1 });
    if (said.includes("none:")) return notRunHere("ends of a place", said);
    if (how !== "early" && !said.includes("ran 0")) left.push(`${round} ${how} said ${said}`);
    const remains = (): string[] => [
      ...readdirSync(root),
      // A pipe in the making is the shell's own matter.
      ...readdirSync(temporary).filter((name) => name.startsWith("keel-box-")),
      ...processesIn(root).map((pid) => `process ${pid}`),
    ];
    const endsAt = performance.now() + maxMs;
    while (remains().length > 0 && performance.now() < endsAt) await pause(20);
    if (remains().length > 0) left.push(`${round} ${how}: ${remains().join(" ")}`);
    for (const folder of [root, temporary]) rmSync(folder, { recursive: true, force: true });
  }
  expect(left).toEqual([]);
  expect(mounts()).toBe(before);
}, 1_800_000);

type End = { root: string; temporary: string; how: "close" | "kill" | "term" | "early"; afterMs: number };

function endOne({ root, temporary, how, afterMs }: End): Promise<string> {
  return new Promise((resolve, reject) => {
    const started = spawn(process.execPath, [child, root, temporary, how], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    started.stdout.on("data", (bytes: Buffer) => {
      said += bytes.toString();
      if (how === "early" && said.includes("opening")) setTimeout(() => started.kill("SIGKILL"), afterMs);
      if (!said.includes("ran ")) return;
      if (how === "kill") started.kill("SIGKILL");
      if (how === "term") started.kill("SIGTERM");
    });
    started.on("error", reject);
    started.on("close", () => resolve(said));
  });
}
