/** The SDK: what `import "keel"` gives. Every export is listed by name. */
export type { CanUseTool, PermissionResult, PermissionUpdate } from "./callbacks.ts";
export type { UserMessage } from "./content.ts";
export type * from "./messages.ts";
export type { Options } from "./options.ts";
export { AbortError, type Prompt, type Query, query, type RewindFilesResult } from "./query.ts";
