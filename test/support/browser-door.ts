// One browser for a whole run: it starts when the first test asks for it, and ends with the run. Tests share its process
// and nothing else: each page is of a visitor of its own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserServer } from "playwright-core";
import type { TestProject } from "vitest/node";
import { serveChromium } from "./chromium.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Answers with the address of the browser, or with why there is none. */
    browserDoor: string;
  }
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined;
  const door = createServer((_, response) => {
    browser ??= serveChromium();
    browser.then(
      (started) => response.end(started.wsEndpoint()),
      (thrown: unknown) => response.writeHead(503).end(reasonOf(thrown)),
    );
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  provide("browserDoor", `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    await browser?.then(
      (started) => started.close(),
      () => undefined,
    );
  };
}

const reasonOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown);
