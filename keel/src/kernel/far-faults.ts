/** Faults about other machines and about sessions that go there: a part of the one table in `faults.ts`. */

type FarExits = Readonly<
  Record<"sessionBusy" | "turnFailed" | "setUp" | "keyRefused" | "unreachable" | "noSession", number>
>;

export const farFaults = (exits: FarExits) =>
  ({
    session_moved: {
      says: "Session {session} went to {to}.",
      hint: "Go on there, or bring it back with `keel teleport`; --fork goes on here in a copy.",
      exit: exits.sessionBusy,
    },
    not_moved: {
      says: "Session {session} was not moved: {reason}",
      hint: "Nothing was lost, and it is where it was. The guide's page about other machines says what can be moved.",
      exit: exits.turnFailed,
    },
    remote_lacks: {
      says: "{host} {reason}",
      hint: "Install there what is missing (`npm install --global keel`, Node 24), or name it: --keel PATH.",
      exit: exits.setUp,
    },
    bridge_refused: {
      says: "The server does not take this bridge: {reason}",
      hint: "`keel serve pair --access bridge`, there, shows a code for `keel bridge URL --pair CODE`.",
      exit: exits.keyRefused,
      beside: ["status"],
    },
    bridge_failed: {
      says: "The server failed: {reason}",
      hint: "Its log says why.",
      exit: exits.unreachable,
    },
    bridge_unknown: {
      says: "No such bridge: {bridge}",
      hint: "`keel serve bridges` lists those that there are.",
      exit: exits.noSession,
    },
  }) as const;
