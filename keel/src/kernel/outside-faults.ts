/** Faults that come from outside of Keel, of this machine and of others: a part of the one table in `faults.ts`. */

/** What is known of a refusal. */
const ofProvider = ["status", "type", "requestId", "retryAfterMs", "reason"] as const;

const fallbackHint = "Try again later, or declare --fallback-model.";

type Exits = { readonly turnFailed: number; readonly keyRefused: number };

/** A provider refuses a request. */
export function providerFaults(exits: Exits) {
  const refusal = <const Says extends string, const Hint extends string>(
    says: Says,
    hint: Hint,
    exit: number = exits.turnFailed,
  ) => ({ says, hint, exit, beside: ofProvider });
  return {
    key_refused: refusal(
      "The provider refused the key: {reason}",
      "Check the key and the base URL that it is meant for.",
      exits.keyRefused,
    ),
    model_forbidden: refusal(
      "The provider does not allow this: {reason}",
      "Check the rights of the key, or take another model: --model.",
      exits.keyRefused,
    ),
    billing: refusal(
      "The provider refused for billing reasons: {reason}",
      "Check the account's balance and plan, or take another provider: --model.",
    ),
    model_unknown: refusal(
      "The provider does not know the model {model}.",
      "`keel models` lists what is known; --model picks one.",
    ),
    model_bad_request: refusal(
      "The provider refused the request: {reason}",
      "This is usually a defect; `keel sessions export` keeps the evidence.",
    ),
    prompt_too_long: refusal(
      "The conversation is too long for the model: {reason}",
      "/compact shortens it, /clear starts anew in the same session.",
    ),
    request_too_large: refusal(
      "The request is larger than the provider takes: {reason}",
      "Attach less: name large files by their path, and they are read in parts.",
    ),
    rate_limited: refusal(
      "The provider limits the rate: {reason}",
      "Wait a little, or ask for a higher limit.",
    ),
    overloaded: refusal("The provider is overloaded: {reason}", fallbackHint),
    server_error: refusal("The provider failed: {reason}", fallbackHint),
  };
}

type FarExits = Readonly<
  Record<"sessionBusy" | "turnFailed" | "setUp" | "keyRefused" | "unreachable" | "noSession", number>
>;

/** Other machines, and sessions that go there. */
export const farFaults = (exits: FarExits) =>
  ({
    access_refused: {
      says: "This needs {needed} access.",
      hint: "Whoever has the server's machine gives it: `keel serve pair --access work` shows a code there.",
      exit: exits.keyRefused,
    },
    code_refused: {
      says: "The code is no good.",
      hint: "`keel serve pair` shows a new one on the server's machine; each is good once, and not for long.",
      exit: exits.keyRefused,
    },
    too_many_tries: {
      says: "Too many wrong codes.",
      hint: "Wait ten minutes, then ask for a new code: `keel serve pair`.",
      exit: exits.keyRefused,
    },
    device_unknown: {
      says: "There is no device {id}.",
      hint: "`keel serve devices` lists those that there are.",
      exit: exits.turnFailed,
    },
    link_lost: {
      says: "The server cannot be reached: {reason}",
      hint: "`keel serve` starts one, `keel serve --status` says whether one runs.",
      exit: exits.unreachable,
    },
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
      hint: "What the server printed says why; the bridge tries again when it is started again.",
      exit: exits.unreachable,
    },
    bridge_unknown: {
      says: "No such bridge: {bridge}",
      hint: "`keel serve bridges` lists those that there are.",
      exit: exits.noSession,
    },
  }) as const;

/** A package of somebody else's is to speak to a provider. */
export const packageFaults = (exits: { readonly setUp: number }) =>
  ({
    package_missing: {
      says: "The package {package} is not installed where Keel looks.",
      hint: "`npm install --prefix ~/.keel {package}` puts it into Keel's home; beside a global Keel `npm install -g {package}` does. Keel never installs it by itself.",
      exit: exits.setUp,
    },
    package_refused: {
      says: "The package {package} cannot be used: {reason}",
      hint: "Its own page says which key and which options it wants; `providers` in your settings give them.",
      exit: exits.setUp,
    },
  }) as const;

/** A database on another machine, or a worker beside this one. */
export const databaseFaults = (exits: {
  readonly sessionBusy: number;
  readonly unreachable: number;
  readonly keyRefused: number;
}) =>
  ({
    database_away: {
      says: "The database {database} does not answer: {reason}",
      hint: "Nothing was acknowledged that it does not have. Try again when it is there.",
      exit: exits.unreachable,
    },
    database_busy: {
      says: "The database {database} takes no more connections: {reason}",
      hint: "Try again in a moment, or allow more of them.",
      exit: exits.sessionBusy,
    },
    database_refused: {
      says: "The database {database} refuses: {reason}",
      hint: "Check the name, the password and the rights in KEEL_STORE_URL or the setting `storeUrl`.",
      exit: exits.keyRefused,
    },
    session_taken: {
      says: "Another worker has session {session} now; nothing more is written here.",
      hint: "It goes on there, and whoever follows it sees it there.",
      exit: exits.sessionBusy,
    },
  }) as const;

/** This machine cannot do what is wanted, or has no more of it. */
export const machineFaults = (exits: Readonly<Record<"turnFailed" | "setUp", number>>) =>
  ({
    sandbox_unavailable: {
      says: "Commands cannot be confined here: {reason}.",
      hint: "`keel doctor` says what the sandbox can do on this machine; `sandbox.enabled` turns it off.",
      exit: exits.setUp,
    },
    descriptors_used_up: {
      says: "{program} could not be started: too many files are open.",
      hint: "Raise the limit of open files (`ulimit -n`), or end what holds them.",
      exit: exits.turnFailed,
    },
    files_used_up: {
      says: "Too many files are open: {reason}",
      hint: "Raise the limit of open files (`ulimit -n`), or end what holds them; then go on with `keel --continue`.",
      exit: exits.turnFailed,
    },
  }) as const;
