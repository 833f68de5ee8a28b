// A server's door in this process, with bounds of the test's own, and whoever knocks at it byte by byte.
import type { Socket } from "node:net";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type ListenAt, namesOf, urlOf } from "../../keel/src/hosts/server/addresses.ts";
import { Doorkeeper } from "../../keel/src/hosts/server/admission.ts";
import { Devices } from "../../keel/src/hosts/server/devices.ts";
import type { DoorLimits } from "../../keel/src/hosts/server/limits.ts";
import { openPages } from "../../keel/src/hosts/server/pages.ts";
import { deviceHandlers, Pairings } from "../../keel/src/hosts/server/pairings.ts";
import { openWebDoor, type WebDoor } from "../../keel/src/hosts/server/web-door.ts";
import type { Script } from "../../keel/src/testing/script.ts";
import { type Stage, serve, stage } from "../handle/stage.ts";

export type DoorStage = Stage & {
  readonly door: WebDoor;
  /** The server's ends of all connections so far. */
  readonly sockets: readonly Socket[];
  readonly devices: Devices;
  /** Of a device that may do everything. */
  readonly secret: string;
  readonly url: string;
  readonly port: number;
};

export async function openDoor(
  at: Partial<ListenAt> = {},
  {
    limits,
    pages = "/nowhere",
    script = { replies: [] },
  }: { limits?: Partial<DoorLimits>; pages?: string; script?: Script } = {},
): Promise<DoorStage> {
  const ground = await stage(script);
  const devices = await Devices.open(path.join(ground.home.path, "server"), () => Date.now());
  const { secret } = await devices.add("a test", "work");
  const address: ListenAt = { port: 0, host: "127.0.0.1", tls: undefined, publicUrl: undefined, ...at };
  let names = namesOf(address, 0);
  const pairings = new Pairings({ add: (name, access) => devices.add(name, access), now: () => Date.now() });
  const connected = (device: string): number => door.clientsOf(device);
  const door = openWebDoor({
    served: serve(ground, { devices: deviceHandlers({ devices, pairings, connected, url: () => url }) }),
    hello: { keel: "0", boot: "b" },
    devices,
    pairings,
    keeper: new Doorkeeper({ devices, names: () => names, now: () => Date.now() }),
    tls: address.tls,
    pages: openPages(pages),
    limits,
  });
  const sockets: Socket[] = [];
  door.server.on("connection", (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => door.server.listen(0, address.host, resolve));
  onTestFinished(() => door.close());
  const listening = door.server.address();
  if (listening === null || typeof listening === "string") throw new Error("no address");
  const { port } = listening;
  names = namesOf(address, port);
  const url = urlOf(address, port);
  return { ...ground, door, sockets, devices, secret, url, port };
}
