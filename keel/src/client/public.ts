/** The public entry `keel/client`: sessions of a server, near or far, as handles. Runs in a browser and in Node. */
export type { SessionHandle } from "../protocol/handle.ts";
export type { Access, DeviceEntry, Pairing, SessionEntry } from "../protocol/operation.ts";
export type {
  AgentUpdate,
  DiffFile,
  DiffSummary,
  FileDiff,
  NewWorker,
  TerminalUpdate,
  WorkerEntry,
  WorkspaceEntry,
  WorkspaceUpdate,
} from "../protocol/workspace.ts";
export type { MessageWire } from "../transport/message-wire.ts";
export {
  type ClientOptions,
  clientOver,
  connect,
  connectBySocket,
  type KeelClient,
  pairDevice,
} from "./connect.ts";
export type { FarBridges } from "./far-bridges.ts";
export type { FarDevices } from "./far-devices.ts";
export { type ClientPorts, farHandle } from "./far-handle.ts";
export type { FarTerminal, FarWorkspaces } from "./far-workspaces.ts";
export { type HttpLinkOptions, httpLink } from "./http-link.ts";
export type { Greeting, LinkStatus, LinkTimers, LinkWatch, ServerLink } from "./link.ts";
export { collectSecret, type PairedDevice, type PairOptions } from "./pair-device.ts";
export { type WireOptions, wireLink } from "./wire-link.ts";
