/** A server as `keel serve` has it, in this process: the home, its sessions, and a door on a port of this machine. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import path from "node:path";
import { type Home, openHome } from "../keel/src/app/home.ts";
import { ServedSessions } from "../keel/src/app/sessions/served-sessions.ts";
import { Doorkeeper } from "../keel/src/hosts/server/admission.ts";
import { Devices } from "../keel/src/hosts/server/devices.ts";
import { Pairings } from "../keel/src/hosts/server/pairings.ts";
import { openWebDoor } from "../keel/src/hosts/server/web-door.ts";

export type ServerPlace = { readonly home: string; readonly cwd: string; readonly url?: string };

export type OpenServer = {
  readonly home: Home;
  readonly served: ServedSessions;
  readonly url: string;
  readonly secret: string;
  readonly server: Server;
  close(): Promise<void>;
};

export async function openServer({ home: place, cwd, url: model }: ServerPlace): Promise<OpenServer> {
  const env = {
    PATH: process.env["PATH"],
    HOME: place,
    KEEL_HOME: path.join(place, ".keel"),
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: "bench",
  };
  const home = openHome({ cwd, env });
  const now = (): number => Date.now();
  const devices = await Devices.open(path.join(home.path, "server"), now);
  const { secret } = await devices.add("the benchmark", "work");
  const pairings = new Pairings({ add: (name, access) => devices.add(name, access), now });
  const about = { home, env, version: "bench", boot: "bench", pid: process.pid };
  const served = new ServedSessions({ ...about, clients: () => door.clients() });
  const door = openWebDoor({
    served,
    hello: { keel: "bench", boot: "bench" },
    devices,
    pairings,
    keeper: new Doorkeeper({ devices, names: () => ({ hosts: new Set(), origins: new Set() }), now }),
  });
  await once(door.server.listen(0, "127.0.0.1"), "listening");
  return {
    home,
    served,
    secret,
    server: door.server,
    url: `http://127.0.0.1:${(door.server.address() as AddressInfo).port}`,
    async close() {
      await served.close();
      door.close();
    },
  };
}
