/**
 * The homes of a program that uses the SDK. A `query()` has no place to hand one in: queries of one `KEEL_HOME` share
 * one, and it stands as long as the program, as the guard of its commands must.
 */
import type { Home, HomeOptions } from "../../app/home.ts";

/** What a conversation needs of a home; of a server's own it needs no more. */
export type ConversationHome = Pick<Home, "open" | "sessions"> & Partial<Pick<Home, "join">>;
export type FindHome = (wanted: HomeOptions) => Promise<ConversationHome>;

export function rememberHomes(): (wanted: HomeOptions) => Promise<Home> {
  const known = new Map<string, Home>();
  return async (wanted) => {
    // Loaded with the first query, not with the SDK.
    const { openHome } = await import("../../app/home.ts");
    const opened = openHome(wanted);
    const home = known.get(opened.path) ?? opened;
    known.set(home.path, home);
    return home;
  };
}

/** Of the functions that the SDK exports; whoever has a home of his own hands that in. */
export const homeOf = rememberHomes();
