/** Set where Keel is bundled, to a sum of all its sources; as sources it has none, since they may change at any time. */
declare const keelBuild: string | undefined;

/** Names the code that runs: what it keeps for itself is read by no other. */
export const build: string | undefined = typeof keelBuild === "string" ? keelBuild : undefined;
