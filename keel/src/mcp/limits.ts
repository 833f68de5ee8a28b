/** What a server may cost. Each bound is a named constant with its reason; settings may change those that are waits. */

export type McpLimits = {
  /** How long the first request of a session waits for servers: a person waits with it. */
  readonly startMs: number;
  /** How long one attempt to connect may take, beside the session: a package may have to be fetched first. */
  readonly connectMs: number;
  /** How long a call may take without a sign of life. */
  readonly callMs: number;
};

const second = 1_000;
const minute = 60 * second;

export const defaultMcpLimits: McpLimits = {
  startMs: 5 * second,
  connectMs: 30 * second,
  callMs: 5 * minute,
};

/** A call that shows progress goes on, but not for ever. */
export const maxCallMs = 60 * minute;
/** Listing and reading are answered at once or not at all. */
export const listMs = 15 * second;
/** How long a server may be silent when it is asked whether it speaks the newest revision. */
export const probeMs = 3 * second;

/** Five tries, from one second to half a minute; after ten minutes in all it is given up. */
export const reconnect = { tries: 5, firstMs: second, maxMs: 30 * second, giveUpMs: 10 * minute } as const;

/** A message larger than this is an attack or a mistake: the connection ends. */
export const maxMessageBytes = 16 * 1024 * 1024;
/** What a server says on stderr goes to a file of this size; the rest is dropped. */
export const maxStderrBytes = 1024 * 1024;
/** The end of it tells why a server did not start. */
export const stderrTailCharacters = 2_000;
/** Messages a second that nobody asked for; who sends more waits until they are read. */
export const maxNoticesPerSecond = 2_000;

/** A model chooses badly among hundreds; more is a mistake. */
export const maxTools = 500;
export const maxPrompts = 200;
export const maxResources = 1_000;
/** Descriptions are for choosing a tool, not for teaching: what is longer is cut. */
export const maxDescriptionCharacters = 2_048;
/** A tool whose schema is larger is left out. */
export const maxSchemaCharacters = 64 * 1024;
export const maxSchemaDepth = 32;
/** From this many characters on, the tools of one server are announced by name and loaded when needed. */
export const maxOfferedCharacters = 60_000;
/** An image larger than this no model takes; base64. */
export const maxImageCharacters = 7 * 1024 * 1024;
/** Words of a server for the model at the start of a session. */
export const maxInstructionCharacters = 2_048;
