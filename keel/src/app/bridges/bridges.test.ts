import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { BridgeConfig, WorkLine } from "../../protocol/bridge.ts";
import { nodeClock, nodeIds } from "../node-ports.ts";
import { Bridges } from "./bridges.ts";

const config = (bridgeId: string): BridgeConfig => ({
  dir: "/work",
  machineName: "far away",
  branch: "main",
  maxSessions: 4,
  spawnMode: "same-dir",
  bridgeId,
  environmentId: "11111111-1111-4111-8111-111111111111",
});
const device = "a device";
const environment = config("").environmentId;

function openBridges(changed = (): void => undefined): Bridges {
  const folder = mkdtempSync(path.join(tmpdir(), "keel-bridges-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bridges = new Bridges({
    folder,
    clock: nodeClock(),
    ids: nodeIds(),
    newSecret: () => crypto.randomUUID(),
    changed,
  });
  onTestFinished(() => bridges.close());
  return bridges;
}

const register = (bridges: Bridges, bridgeId: string) =>
  bridges.register(config(bridgeId), { device, calledAs: "http://127.0.0.1:1" });

/** A way to the server that has said hello, and what it was told there. */
async function come(bridges: Bridges, epoch: number, session_ids: string[] = []) {
  const told: WorkLine[] = [];
  const channel = { send: (line: WorkLine) => void told.push(line), close: () => undefined };
  const receiver = await bridges.openEnvironment({ environment, device }, channel);
  receiver?.receive([{ type: "hello", version: 1, epoch, session_ids, done: [] }]);
  await expect.poll(() => told.map(({ type }) => type)).toContain("welcome");
  return { told, receiver };
}
const works = (told: readonly WorkLine[]) => told.filter(({ type }) => type === "work");

test("words of an earlier start that arrive late end no newer one", async () => {
  verifies("S4.73");
  const bridges = openBridges();
  await register(bridges, "first");
  const { epoch } = await register(bridges, "second");
  const { told } = await come(bridges, epoch);
  await expect(register(bridges, "first")).rejects.toMatchObject({ code: "access_refused" });
  expect(told.map(({ type }) => type)).not.toContain("end");
  expect(await register(bridges, "second")).toMatchObject({ epoch });
});

test("work that was taken is told once more while nobody has come with its token, which may be lost", async () => {
  verifies("S4.73");
  let changes = 0;
  const bridges = openBridges(() => void changes++);
  const { epoch } = await register(bridges, "first");
  const first = await come(bridges, epoch);
  const id = await bridges.give({ bridge: environment, prompt: "Go" }, "a person");
  expect(works(first.told)).toMatchObject([{ work_id: id }]);
  const before = changes;
  first.receiver?.receive([{ type: "ack", work_id: id }]);
  await expect.poll(() => changes).toBeGreaterThan(before);
  first.receiver?.end();
  const second = await come(bridges, epoch, [id]);
  await expect.poll(() => works(second.told)).toMatchObject([{ work_id: id }]);
  expect(works(second.told)[0]).not.toEqual(works(first.told)[0]);
});
