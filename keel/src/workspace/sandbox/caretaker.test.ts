import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

const child = path.resolve(import.meta.dirname, "../../../../test/sandbox/caretaker-child.ts");

test("where Keel was killed nothing is left, also of what goes on to write for a moment", async () => {
  const base = mkdtempSync(path.join(tmpdir(), "keel-caretaker-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const own = path.join(base, "own");
  const killed = spawn(process.execPath, [child, own], { stdio: "inherit" });
  expect((await once(killed, "exit"))[1]).toBe("SIGKILL");
  // Long after the last write, which would stay for ever.
  await expect.poll(() => existsSync(own), { timeout: 5_000 }).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await expect.poll(() => existsSync(own), { timeout: 5_000 }).toBe(false);
});
