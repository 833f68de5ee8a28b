/**
 * What sockets speak: one row for each wire of the table of sockets. A dialect is told what the client sends and
 * says what it is told; who may come in, how much may wait and who sends too much is the door's to see to.
 */
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { reasonOf } from "../../kernel/fault.ts";
import type { BridgeDoor } from "./bridge-wire/bridge-door.ts";
import {
  type ClientConnection,
  type ClientPeer,
  callerName,
  closeCodes,
  openConnection,
} from "./connection.ts";
import type { ConsoleAgents } from "./console-wire/console-agents.ts";
import type { Device } from "./devices.ts";
import type { PathFields, SocketRouteName } from "./routes.ts";

export type SocketClient = {
  readonly peer: ClientPeer;
  readonly device: Device;
  /** What the `{names}` of the path stand for. */
  readonly fields: PathFields;
  readonly query: URLSearchParams;
};

/** What it says to the peer it says by itself. */
export type SocketDialect = (client: SocketClient) => Pick<ClientConnection, "receive" | "end">;

export type DialectOptions = {
  readonly served: ServedSessions;
  readonly hello: { readonly keel: string; readonly boot: string };
  bridgeDoor(): Promise<BridgeDoor>;
};

export function socketDialects({ served, hello, bridgeDoor }: DialectOptions): {
  readonly [Name in SocketRouteName]: SocketDialect;
} {
  const server = served.start;
  let agents: Promise<ConsoleAgents> | undefined;
  return {
    keel: ({ peer, device }) => openConnection({ served, peer, device, hello }),
    sdk: late(async ({ peer, device, fields, query }) => {
      const [{ openSdkSocket }, { wishesOf }] = await Promise.all([
        import("./sdk-wire/sdk-socket.ts"),
        import("./sdk-wire/sdk-routes.ts"),
      ]);
      const session = fields["session"] ?? "";
      const caller = { access: device.access, name: callerName(device, query.get("client") ?? undefined) };
      const wishes = wishesOf(query, { echoes: false });
      return openSdkSocket({ served, session, caller, version: hello.keel, ...wishes }, peer);
    }),
    bridge: late(async ({ peer, device, fields }) =>
      (await bridgeDoor()).socket(
        { kind: "environment", id: fields["environment"] ?? "", device: device.id },
        peer,
      ),
    ),
    bridgeIngress: late(async ({ peer, device, fields }) =>
      (await bridgeDoor()).socket({ kind: "ingress", id: fields["session"] ?? "", device: device.id }, peer),
    ),
    consoleApp: late(async ({ peer }) =>
      (await import("./console-wire/app-socket.ts")).openAppSocket(served, peer),
    ),
    consoleWorker: late(async ({ peer, device, fields, query }) => {
      const { openWorkerSocket } = await import("./console-wire/worker-socket.ts");
      agents ??= import("./console-wire/console-agents.ts").then(
        ({ ConsoleAgents }) => new ConsoleAgents({ served, version: hello.keel, folder: server.folder }),
      );
      const { workspace = "", worker = "" } = fields;
      const caller = { access: device.access, name: callerName(device, query.get("client") ?? undefined) };
      return openWorkerSocket({ served, agents: await agents, caller, workspace, worker, server }, peer);
    }),
  };
}

/** A dialect that is loaded with its first client; what comes meanwhile waits, and not without bound. */
function late(open: (client: SocketClient) => Promise<ReturnType<SocketDialect>>): SocketDialect {
  return (client) => {
    const waiting: string[] = [];
    let opened: ReturnType<SocketDialect> | undefined;
    let isEnded = false;
    open(client).then(
      (connection) => {
        if (isEnded) return connection.end();
        opened = connection;
        for (const message of waiting.splice(0)) connection.receive(message);
      },
      (thrown: unknown) => client.peer.close(closeCodes.failed, reasonOf(thrown).slice(0, 100)),
    );
    return {
      receive(message) {
        if (opened) opened.receive(message);
        else if (waiting.push(message) > maxWaiting)
          client.peer.close(closeCodes.tooMuch, "too much at once");
      },
      end() {
        isEnded = true;
        opened?.end();
      },
    };
  };
}

const maxWaiting = 100;
