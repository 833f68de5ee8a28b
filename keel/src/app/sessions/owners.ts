/** Who has a session open: the server of the home, another process, or nobody. */
import { Fault, fault } from "../../kernel/fault.ts";
import type { Leases } from "../../ports/lease.ts";

export type SessionOwner = { readonly kind: "server" | "process"; readonly pid?: number | undefined };

/** Whoever holds it serves the home; what a server has open it holds by the same lease. */
export const serverLease = "server";

/** Those that nobody has open are left out. Of this process too it is said that it is a process. */
export async function ownersOf(
  leases: Leases,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SessionOwner>> {
  const holders = await leases.holders([serverLease, ...ids]);
  const server = holders.get(serverLease)?.id;
  return new Map(
    ids.flatMap((id): [string, SessionOwner][] => {
      const holder = holders.get(id);
      return holder ? [[id, { kind: holder.id === server ? "server" : "process", pid: holder.pid }]] : [];
    }),
  );
}

/** Throws what was thrown; of a session that the server has, `session_served`, which says how to join it. */
export async function nameOwner(leases: Leases, thrown: unknown): Promise<never> {
  const session = thrown instanceof Fault && thrown.code === "session_busy" && thrown.detail["session"];
  if (typeof session !== "string") throw thrown;
  const owner = (await ownersOf(leases, [session])).get(session);
  throw owner?.kind === "server" ? fault("session_served", { session, pid: owner.pid }) : thrown;
}
