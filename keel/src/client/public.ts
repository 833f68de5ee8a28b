/** The public entry `keel/client`: sessions of a server, near or far, as handles. Runs in a browser and in Node. */
export type { SessionHandle } from "../protocol/handle.ts";
export type { Access, SessionEntry } from "../protocol/operation.ts";
export { type ClientOptions, clientOver, connect, type KeelClient } from "./connect.ts";
export { type ClientPorts, farHandle } from "./far-handle.ts";
export { type HttpLinkOptions, httpLink } from "./http-link.ts";
export type { Greeting, ServerLink } from "./link.ts";
export { type MessageWire, type WireOptions, wireLink } from "./wire-link.ts";
