/** The bridges of a server, from afar: machines that take work. Their sessions are attached to like any other. */
import type { BridgeEntry } from "../protocol/bridge.ts";
import type { OperationQuestion } from "../protocol/operation.ts";
import type { ClientPorts } from "./far-handle.ts";
import type { ServerLink } from "./link.ts";

export type FarBridges = {
  list(): Promise<readonly BridgeEntry[]>;
  /**
   * Returns the id of the session. Whoever names the id may ask again after `link_lost`: it is one piece of work. Throws
   * `bridge_unknown`, and `work_refused` where there is no room.
   */
  give(work: OperationQuestion<"giveWork">): Promise<string>;
  /** Ends its sessions. Throws `bridge_unknown`. */
  remove(bridge: string): Promise<void>;
};

export const farBridges = (link: ServerLink, { uuid }: Pick<ClientPorts, "uuid">): FarBridges => ({
  list: () => link.call("bridges", {}),
  give: async (work) => (await link.call("giveWork", { id: uuid(), ...work })).session,
  remove: async (bridge) => void (await link.call("removeBridge", { bridge })),
});
