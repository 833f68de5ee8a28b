// Where the browser of tests and benchmarks is: unpacked once, into a folder of its own.
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserServer } from "playwright-core";

// No sandbox: tests may run as root, and the pages are ours. Site isolation and the policy of pages stay on.
const args = ["--no-sandbox", "--headless=shell"];

/** Rejects where none can be started here. */
export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath: await unpacked(), args });
}

/** One that several processes use. */
export async function serveChromium(): Promise<BrowserServer> {
  const { chromium } = await import("playwright-core");
  return chromium.launchServer({ executablePath: await unpacked(), args, host: "127.0.0.1" });
}

/** It unpacks under fixed names into whatever the temporary folder is: here into one that nobody else uses. */
async function unpacked(): Promise<string> {
  const folder = path.join(tmpdir(), "keel-test-chromium");
  await mkdir(folder, { recursive: true });
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    return await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}
