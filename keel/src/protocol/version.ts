/** Versions of what outlives a process: the log's format and the protocol. */

/** The format of a log's lines. Raised only when old readers would misread; `store/upgrade` reads every older one. */
export const logVersion = 1;

/** The version of commands, events and asks as hosts see them. */
export const protocolVersion = 1;
