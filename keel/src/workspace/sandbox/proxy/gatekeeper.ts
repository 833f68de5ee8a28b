/**
 * Who may be reached through the proxy, and at which addresses. A name is judged by the lists, then by whoever can be
 * asked; it is resolved here and once, and only the addresses that were looked at are connected to. Every no is told.
 */
import { isIP } from "node:net";
import type { Refused } from "../../../kernel/result.ts";
import {
  type HostEntry,
  type HostLists,
  isAddress,
  isNamed,
  judgeHost,
  readHost,
} from "../../../policy/network-hosts.ts";
import type { HostDecision, HostTarget } from "../../../ports/sandbox.ts";
import { isOwnNetwork, whyNotPublic } from "../../web/public-address.ts";
import { isLocalName, type LookUp } from "../../web/url-guard.ts";

/** A request that did not get through. */
export type NetworkViolation = HostTarget & {
  /** Whose it is, by the id of its pass; empty where it said no name. */
  readonly command: string;
  /** A sentence for the model. */
  readonly why: string;
};

export type HostQuestion = HostTarget & { readonly command: string };

/** Whoever can be asked about a host that nobody decided. A no by whatever goes wrong. */
export type AskAboutHost = (question: HostQuestion, signal: AbortSignal) => Promise<HostDecision>;

export type Passage = HostTarget & { readonly ok: true; readonly addresses: readonly string[] };

export type GatekeeperOptions = {
  /** As they are at this moment: rules change within a session. */
  readonly lists: () => HostLists;
  readonly ask?: AskAboutHost | undefined;
  readonly lookUp: LookUp;
  readonly onViolation: (violation: NetworkViolation) => void;
  readonly limits: { readonly askMs: number; readonly lookUpMs: number };
};

export class Gatekeeper {
  readonly #options: GatekeeperOptions;
  /** What was answered about a host and port, for the rest of the session; also what is just being asked. */
  readonly #answers = new Map<string, Promise<"allow" | "deny">>();

  constructor(options: GatekeeperOptions) {
    this.#options = options;
  }

  /** Never throws; a no is recorded. */
  async passage(
    { host: written, port, command }: HostQuestion,
    signal: AbortSignal,
  ): Promise<Passage | Refused> {
    const host = readHost(written);
    if (host === undefined)
      return this.refuse(
        { host: written.slice(0, 100), port, command },
        `${JSON.stringify(written.slice(0, 100))} is no host name that is passed on.`,
      );
    const question = { host, port, command };
    const judged = judgeHost(this.#options.lists(), question);
    if (judged.verdict === "deny")
      return this.refuse(
        question,
        `${placeOf(question)} is denied by ${judged.entry?.text ?? "a rule"}. No other way leads there: do without it, or ask the user.`,
      );
    const inside = this.#whyInside(question);
    if (inside !== undefined)
      return this.refuse(question, `${placeOf(question)} is ${inside}. ${byItsName("it")}`);
    if (judged.verdict === "open" && (await this.#asked(question, signal)) === "deny")
      return this.refuse(question, notAllowed(question, this.#options.ask ? "said no" : "nobody"));
    return this.#resolved(question, signal);
  }

  /** Nobody is asked about what is inside: it is named, or it is not meant. */
  #whyInside(target: HostTarget): string | undefined {
    if (isNamed(this.#options.lists().inner, target)) return undefined;
    if (isAddress(target.host)) return whyNotPublic(target.host);
    return isLocalName(target.host) ? "a name of a private network" : undefined;
  }

  refuse(at: HostQuestion, why: string): Refused {
    this.#options.onViolation({ host: at.host, port: at.port, command: at.command, why });
    return { ok: false, why };
  }

  async #resolved(question: HostQuestion, signal: AbortSignal): Promise<Passage | Refused> {
    const { host, port } = question;
    if (isAddress(host)) return { ok: true, host, port, addresses: [host] };
    const { inner } = this.#options.lists();
    const named = (address: string): boolean => isNamed(inner, { host: address, port });
    const found = await withDeadline(this.#options.lookUp(host), this.#options.limits.lookUpMs, signal);
    const addresses = (found ?? []).filter((address) => isIP(address) !== 0);
    if (addresses.length === 0)
      return { ok: false, why: `${host} cannot be found: the name service knows no address of it.` };
    const isInner = isNamed(inner, question);
    // One bad address among good ones is how a name is made to point inside: then none is used.
    const bad = addresses.find(
      (address) =>
        whyNotPublic(address) !== undefined &&
        !named(readHost(address) ?? address) &&
        !(isInner && isOwnNetwork(address)),
    );
    return bad === undefined
      ? { ok: true, host, port, addresses }
      : this.refuse(
          question,
          `${host} leads to ${bad}, which is ${whyNotPublic(bad)}: names must not lead inside. ${byItsName("the address itself")}`,
        );
  }

  #asked(question: HostQuestion, signal: AbortSignal): Promise<"allow" | "deny"> {
    const { ask, limits } = this.#options;
    if (!ask) return Promise.resolve("deny");
    const key = `${question.host} ${question.port}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = withDeadline(ask(question, signal), limits.askMs, signal).then((said) => {
      // A question that nobody answered may be put again.
      if (said === undefined) this.#answers.delete(key);
      return said ?? "deny";
    });
    this.#answers.set(key, answer);
    return answer;
  }
}

/** Of what is allowed, that which is inside: who names a private network, this machine or an address means it. */
export const innerOf = (allowed: readonly HostEntry[]): HostEntry[] =>
  allowed.filter(({ host, extent }) => extent === "itself" && (isAddress(host) || isLocalName(host)));

export const placeOf = ({ host, port }: HostTarget): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

const byItsName = (what: string): string => `The user can name ${what} in sandbox.network.allowedDomains.`;

const notAllowed = (at: HostTarget, who: "said no" | "nobody"): string =>
  who === "said no"
    ? `The user has not allowed ${placeOf(at)}. Do without it, or say why it is needed.`
    : `${placeOf(at)} is not among the hosts that commands may reach, and nobody can be asked. Do without it; the user can add it to sandbox.network.allowedDomains.`;

/** Undefined when it takes too long, fails, or nobody waits any more. */
async function withDeadline<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const end = (): void => over.resolve(undefined);
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([work, over.promise]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
