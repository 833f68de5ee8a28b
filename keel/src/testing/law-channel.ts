/** Where the request law tells what it saw: a channel of `node:diagnostics_channel`, so that no list is shared. */
export const lawChannel = "keel:request-law";

export type LawMessage = { readonly type: "checked" } | { readonly type: "broke"; readonly sentence: string };
