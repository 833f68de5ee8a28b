/** The sandbox of a session's commands: what the settings want of it, and what they may do inside at every moment. */
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import type { JudgedEntry } from "../../config/settings/entries.ts";
import type { EnvironmentVariables } from "../../config/settings/paths.ts";
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import { fault } from "../../kernel/fault.ts";
import { globMatcher } from "../../kernel/glob.ts";
import { isInside } from "../../kernel/path.ts";
import { deniesReading, type Rules } from "../../policy/decide.ts";
import { touches } from "../../policy/rules.ts";
import type {
  CommandSandbox,
  HostDecision,
  HostTarget,
  SandboxFacts,
  Violation,
} from "../../ports/sandbox.ts";
import type { LogNotice } from "../../ports/store.ts";
import { confinedGuard } from "../../workspace/sandbox/confined-guard.ts";
import { confinementOf } from "../../workspace/sandbox/confinement.ts";
import type { LocalSandbox } from "../../workspace/sandbox/sandbox.ts";
import { type OpenedEgress, openEgress, type WebOfSandbox, webOf } from "./egress.ts";
import type { LiveFolders } from "./folders.ts";
import type { LateGuard } from "./late-ports.ts";
import type { OwnFiles } from "./own-files.ts";

type WorkFolders = Pick<LiveFolders, "cwd" | "roots">;

export type SessionSandbox = {
  /** For commands of a workspace in these folders. */
  at(folders: WorkFolders): { readonly inside: LateGuard; readonly port: CommandSandbox };
  /** For hooks and servers, where they are to be inside. */
  readonly hooks: LateGuard | undefined;
  readonly servers: LateGuard | undefined;
  /** What holds for Keel's own tools too. */
  readonly web: WebOfSandbox;
  close(): Promise<void>;
};

export type SandboxContext = {
  readonly settings: KeelSettings;
  readonly entries: readonly JudgedEntry[];
  readonly guard: LateGuard;
  readonly open: () => Promise<LocalSandbox>;
  readonly folders: WorkFolders;
  readonly kept: OwnFiles;
  readonly named: () => ReadonlyMap<string, string>;
  readonly rules: Rules;
  readonly home: string;
  readonly env: EnvironmentVariables;
  /** Whether somebody can be asked about hosts. */
  readonly asks: "answered" | "refused";
};

type SandboxWishes = NonNullable<KeelSettings["sandbox"]>;

/** Throws `sandbox_unavailable` where nothing is to start without one; else a person is told that there is none. */
export async function sessionSandbox(
  context: SandboxContext,
): Promise<{ readonly sandbox?: SessionSandbox; readonly notices: readonly LogNotice[] }> {
  const { settings, entries, guard, open } = context;
  const wishes = settings.sandbox ?? {};
  const sandbox = await open();
  const facts = await sandbox.describe();
  const why = whyNot(facts, wishes);
  if (why !== undefined) {
    if (wishes.failIfUnavailable) throw fault("sandbox_unavailable", { reason: why });
    const text = `COMMANDS ARE NOT CONFINED: the sandbox that is wanted cannot be had here (${why}). Permission rules and modes decide about every command. \`sandbox.failIfUnavailable\` refuses to start like this; \`keel doctor\` says more.`;
    return { notices: [{ level: "warning", code: "sandbox_unavailable", text }] };
  }
  const askers = new Askers();
  const way = await wayOut(context, wishes, askers);
  const insideFor = (folders: WorkFolders): LateGuard => {
    const place = async () => sandbox.open(confinementOf(wishesOf(context, { wishes, way }, folders)));
    return async () => confinedGuard(await guard(), place, way?.masked);
  };
  const port = portOf(wishes, mayAutoAllow(entries, wishes), askers);
  const everywhere = insideFor(context.folders);
  return {
    sandbox: {
      at: (folders) => ({ inside: insideFor(folders), port }),
      hooks: wishes.hooks ? everywhere : undefined,
      servers: wishes.mcpServers ? everywhere : undefined,
      web: webOf(wishes.network ?? {}),
      close: async () => way?.close(),
    },
    notices: [
      ...facts.weaknesses.map((weakness) => `The sandbox of commands is weaker here: ${weakness}.`),
      ...(way?.problems ?? []),
    ].map((text) => ({ level: "warning", text })),
  };
}

function whyNot({ layer, why, bubblewrap }: SandboxFacts, wishes: SandboxWishes): string | undefined {
  if (layer === "none") return why ?? "nothing that confines was found";
  const isOpen = layer === "bubblewrap" && bubblewrap?.hole === "open";
  return isOpen && wishes.requireFixedBubblewrap
    ? `bubblewrap ${bubblewrap.version} has a known hole (CVE-2026-87766), and the settings want a newer one`
    : undefined;
}

/** A project can ask for a sandbox; that questions fall away by it is for the person to say. */
function mayAutoAllow(entries: readonly JudgedEntry[], { autoAllowBashIfSandboxed }: SandboxWishes): boolean {
  const isPersons = entries.some(
    ({ path: parts, value, source, state }) =>
      ["sandbox.enabled", "sandbox.autoAllowBashIfSandboxed"].includes(parts.join(".")) &&
      value === true &&
      source !== "project" &&
      source !== "local" &&
      state.kind !== "left-out",
  );
  return isPersons && autoAllowBashIfSandboxed !== false;
}

type HostAsk = Parameters<CommandSandbox["answering"]>[0];

/** Calls that run at the moment, each with its own way to ask a person: the newest is asked. */
class Askers {
  readonly #asks: HostAsk[] = [];

  add(ask: HostAsk): () => void {
    this.#asks.push(ask);
    return () => {
      const at = this.#asks.indexOf(ask);
      if (at >= 0) this.#asks.splice(at, 1);
    };
  }

  async ask(target: HostTarget): Promise<HostDecision> {
    return this.#asks.at(-1)?.(target);
  }
}

/** The proxy, where hosts may be allowed or keys are held back; without it nothing inside reaches anybody. */
async function wayOut(
  { settings, env, rules, asks }: SandboxContext,
  { network = {}, credentials }: SandboxWishes,
  askers: Askers,
): Promise<OpenedEgress | undefined> {
  const { allowedDomains = [], httpProxyPort, socksProxyPort } = network;
  const isWanted =
    (asks === "answered" && network.strictAllowlist !== true) ||
    allowedDomains.length > 0 ||
    (httpProxyPort ?? socksProxyPort ?? credentials) !== undefined;
  if (!isWanted) return undefined;
  // Short: the name of a socket has a bound.
  const folder = await mkdtemp(path.join(env["TMPDIR"] || "/tmp", "keel-way-"));
  const opened = await openEgress({
    settings,
    network,
    env,
    rules: () => rules,
    folder,
    ask: (target) => askers.ask(target),
  });
  return {
    ...opened,
    async close() {
      await opened.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function wishesOf(
  { kept, named, rules, home }: SandboxContext,
  { wishes, way }: { wishes: SandboxWishes; way: OpenedEgress | undefined },
  { roots }: WorkFolders,
) {
  const { filesystem: files = {}, network = {} } = wishes;
  const ground = { roots, home };
  const isDenied = (action: "read" | "write", place: string): boolean =>
    action === "read"
      ? deniesReading(rules, place, ground)
      : rules.deny.some(
          (rule) => rule.pattern.kind === "path" && touches(rule, "Write", { action, target: place }, ground),
        );
  return {
    roots,
    home,
    own: [kept.folder],
    lent: kept.outputs(),
    named: [...named().keys()],
    allowWrite: files.allowWrite ?? [],
    denyWrite: files.denyWrite ?? [],
    allowRead: files.allowRead ?? [],
    denyRead: [...(files.denyRead ?? []), ...deniedByName(rules, home), ...(way?.unreadable ?? [])],
    denies: isDenied,
    egress: way?.egress,
    unixSockets: network.allowAllUnixSockets ? ("all" as const) : (network.allowUnixSockets ?? []),
    nested: wishes.allowNestedUserNamespaces ? ("allowed" as const) : ("refused" as const),
  };
}

/** Deny rules about reading that name one place, wherever it is. */
function deniedByName({ deny }: Rules, home: string): string[] {
  return deny.flatMap(({ tool, pattern }) => {
    if (pattern.kind !== "path" || tool !== "Read") return [];
    const place = pattern.value.replace(/\/\*\*$/, "");
    if (/[*?[{\\]/.test(place)) return [];
    if (place.startsWith("//")) return [place.slice(1)];
    return place.startsWith("~/") ? [`${home}${place.slice(1)}`] : [];
  });
}

/** Commands whose refusals are kept for who is asked about them later. */
const mostKept = 100;

function portOf(wishes: SandboxWishes, autoAllow: boolean, askers: Askers): CommandSandbox {
  const kept = new Map<string, readonly Violation[]>();
  return {
    autoAllow,
    mayLeave: wishes.allowUnsandboxedCommands !== false,
    excluded: wishes.excludedCommands ?? [],
    note(command, violations) {
      const told = violations.filter((violation) => !isIgnored(command, violation, wishes.ignoreViolations));
      kept.delete(command);
      if (told.length > 0) kept.set(command, told);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return told;
    },
    answering: (ask) => askers.add(ask),
    refused: (command) => kept.get(command) ?? [],
  };
}

/** By the kind of what was refused, or by how the command starts; `*` is every command. */
function isIgnored(
  command: string,
  { kind, target }: Violation,
  ignored: Readonly<Record<string, readonly string[]>> = {},
): boolean {
  return Object.entries(ignored).some(([name, targets]) => {
    const isAbout =
      name === "file"
        ? kind !== "network"
        : name === "network"
          ? kind === "network"
          : name === "*" || command === name || command.startsWith(`${name} `);
    return isAbout && targets.some((wanted) => isMeant(wanted, target));
  });
}

const isMeant = (wanted: string, target: string): boolean =>
  wanted === target ||
  wanted === "*" ||
  (wanted.startsWith("/") && isInside(target, [wanted])) ||
  // A host is told with its port.
  target.startsWith(`${wanted}:`) ||
  (/[*?]/.test(wanted) && globMatcher([wanted.replace(/^\//, "")])(target.replace(/^\//, "")));
