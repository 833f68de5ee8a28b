import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openBlobs } from "../../workspace/checkpoints/blobs.ts";
import { openHome } from "../home.ts";

const sessions = [1, 2].map((number) => `00000000-0000-7000-8000-00000000000${number}`);

/** Two sessions that keep one content together, one content each, and a stock that nobody names. */
async function twoSessions() {
  const home = mkdtempSync(path.join(tmpdir(), "keel-forget-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const kept = openHome({ env: { KEEL_HOME: home }, cwd: home }).sessions;
  const folder = path.join(home, "blobs");
  const blobs = openBlobs({ folder, now: Date.now });
  const put = (text: string): Promise<string> => blobs.put(Buffer.from(text));
  const common = await put("common");
  const own = [await put("of the first"), await put("of the second")];
  const stock = await put("stock");
  for (const [index, session] of sessions.entries()) {
    const files = [common, own[index] ?? ""].map((blob) => ({ path: `/p/${blob.slice(0, 4)}`, blob }));
    const place = { at: 1, session };
    await kept.restore(session, {
      cwd: home,
      events: [{ ...place, seq: 1, type: "files.saved", checkpoint: "c", files }],
    });
  }
  const names = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
          .sort()
      : [];
  return { kept, names, common, own, stock, home };
}

test("a deleted session takes along what only it kept, and the stock that nobody names", async () => {
  const { kept, names, common, own } = await twoSessions();
  await kept.delete(sessions[0] ?? "");
  expect(names()).toEqual([common, own[1]].sort());
  await kept.delete(sessions[1] ?? "");
  expect(names()).toEqual([]);
});

test("the stock stays while another session is open, which may be about to need it", async () => {
  const { kept, names, common, own, stock, home } = await twoSessions();
  const { jsonlStore } = await import("../../store/jsonl/store.ts");
  const log = await jsonlStore({ home }).open(sessions[1] ?? "");
  try {
    await kept.delete(sessions[0] ?? "");
    expect(names()).toEqual([common, own[1], stock].sort());
  } finally {
    await log.close();
  }
});
