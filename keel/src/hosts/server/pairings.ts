/**
 * How a device that has no secret gets one: a person asks for a code, the device comes with it, both show the same
 * digits, and the person says that they are. A code is short, so that it is good once, for minutes, and for a few wrong
 * tries of anybody; then it is over, and nobody has learned whether one was near.
 */
import { randomBytes, randomInt } from "node:crypto";
import type { DeviceHandlers } from "../../app/sessions/served-sessions.ts";
import { fault } from "../../kernel/fault.ts";
import { visible } from "../../kernel/text.ts";
import type { Access, AnswerTo, Pairing } from "../../protocol/operation.ts";
import { codeLength, codeLetters, type OpenAnswer, readCode } from "../../protocol/pairing.ts";
import { type Device, type Devices, isSame, sumOf } from "./devices.ts";
import { Tries } from "./tries.ts";

export type PairingsOptions = {
  readonly add: (name: string, access: Access) => Promise<{ device: Device; secret: string }>;
  readonly now: () => number;
  /** How long a question about a pairing waits for news; a shorter one in tests. */
  readonly waitMs?: number | undefined;
};

const openMs = 5 * 60_000;
const maxOpen = 5;
/** Of anybody, after which a code is no good. */
const maxWrong = 5;
/** From one address, after which not even a right one is looked at; all together are bounded by the codes themselves. */
const tries = { fromOne: 10, inAll: 1_000, withinMs: 10 * 60_000 };
const waitMs = 20_000;

type OpenPairing = {
  readonly id: string;
  readonly codeSum: string;
  readonly access: Access;
  /** As the person calls the device; what it says of itself when left out. */
  readonly name: string | undefined;
  readonly until: number;
  wrong: number;
  claimSum?: string;
  pairing: Pairing;
  readonly told: Set<() => void>;
};

export class Pairings {
  readonly #options: PairingsOptions;
  readonly #tries: Tries;
  readonly #open = new Map<string, OpenPairing>();

  constructor(options: PairingsOptions) {
    this.#options = options;
    this.#tries = new Tries(tries, options.now);
  }

  /** Left out, it may answer what is asked: who wants to do more than that says so. */
  begin({
    access = "answer",
    name,
  }: {
    access?: Access | undefined;
    name?: string | undefined;
  }): Omit<AnswerTo<"pair">, "url"> {
    this.#sweep();
    const waiting = [...this.#open.values()].filter(({ pairing }) => isUnderWay(pairing));
    if (waiting.length >= maxOpen)
      throw fault("usage", { reason: `There are ${maxOpen} open codes already.` });
    const code = Array.from({ length: codeLength }, () => codeLetters[randomInt(codeLetters.length)]).join(
      "",
    );
    const id = randomBytes(9).toString("base64url");
    const until = this.#options.now() + openMs;
    const pairing: Pairing = { state: "open", until };
    this.#open.set(id, { id, codeSum: sumOf(code), access, name, until, wrong: 0, pairing, told: new Set() });
    return { pairing: id, code, until };
  }

  /** With what is known already: waits for more. Throws `device_unknown`. */
  async look(id: string, known?: string): Promise<Pairing> {
    const found = this.#find(id);
    if (found.pairing.state === known) await this.#news(found);
    this.#sweep();
    return found.pairing;
  }

  /** A no also before somebody came. Throws `usage` for a yes to nobody, and for what is over. */
  answer(id: string, verdict: "allow" | "deny"): void {
    const found = this.#find(id);
    const { pairing } = found;
    if (verdict === "deny" && isUnderWay(pairing)) return tell(found, { state: "over", why: "refused" });
    if (pairing.state !== "claimed") throw fault("usage", { reason: `The pairing is ${pairing.state}.` });
    tell(found, { state: "allowed", until: found.until, name: pairing.name });
  }

  /** By whoever comes, from an address. Throws `code_refused` and `too_many_tries`, each without saying why. */
  claim({ code, name, from }: { code: string; name: string; from: string }): OpenAnswer<"claimPairing"> {
    this.#sweep();
    if (this.#tries.isTooMany(from)) throw fault("too_many_tries");
    const sum = sumOf(readCode(code) ?? "");
    let right: OpenPairing | undefined;
    // All of them, so that it takes as long for every code.
    for (const one of this.#open.values())
      if (isSame(one.codeSum, sum) && one.pairing.state === "open") right = one;
    if (!right) {
      this.#tries.add(from);
      for (const one of this.#open.values()) this.#countWrong(one);
      throw fault("code_refused");
    }
    const claim = randomBytes(32).toString("base64url");
    const digits = String(randomInt(1_000_000)).padStart(6, "0");
    right.claimSum = sumOf(claim);
    const calledBy = right.name ?? name;
    tell(right, { state: "claimed", until: right.until, digits, name: shownName(calledBy) });
    return { claim, digits, until: right.until };
  }

  /** Waits a while. Only who has claimed knows the claim, and gets the secret once. */
  async collect(claim: string): Promise<{ device: Device; secret: string } | "waiting" | "over"> {
    this.#sweep();
    const sum = sumOf(claim);
    let found: OpenPairing | undefined;
    for (const one of this.#open.values()) if (one.claimSum && isSame(one.claimSum, sum)) found = one;
    if (!found) return "over";
    if (found.pairing.state === "claimed") await this.#news(found);
    this.#sweep();
    const { pairing } = found;
    if (pairing.state === "claimed") return "waiting";
    if (pairing.state !== "allowed") return "over";
    // Before anything is waited for: two that come at once are one too many.
    delete found.claimSum;
    const added = await this.#options.add(pairing.name, found.access);
    tell(found, { state: "paired", device: added.device.id, name: pairing.name });
    return added;
  }

  #countWrong(one: OpenPairing): void {
    if (one.pairing.state !== "open") return;
    one.wrong += 1;
    if (one.wrong >= maxWrong) tell(one, { state: "over", why: "wrong-codes" });
  }

  #find(id: string): OpenPairing {
    this.#sweep();
    const found = this.#open.get(id);
    if (!found) throw fault("device_unknown", { id });
    return found;
  }

  #news(found: OpenPairing): Promise<void> {
    const left = found.until - this.#options.now();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        found.told.delete(end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, Math.min(left + 1, this.#options.waitMs ?? waitMs)));
      timer.unref();
      found.told.add(end);
    });
  }

  /** What took too long is over, and what is over is forgotten after as long again. */
  #sweep(): void {
    const now = this.#options.now();
    for (const one of this.#open.values()) {
      if (one.until < now && isUnderWay(one.pairing)) tell(one, { state: "over", why: "too-late" });
      if (one.until + openMs < now) this.#open.delete(one.id);
    }
  }
}

const isUnderWay = ({ state }: Pairing): boolean => state !== "paired" && state !== "over";

function tell(one: OpenPairing, pairing: Pairing): void {
  one.pairing = pairing;
  for (const told of [...one.told]) told();
}

/** On one line, and with nothing in it that a terminal would act on. */
const shownName = (name: string): string =>
  visible(name).replace(/\s+/g, " ").trim().slice(0, 80) || "a device";

/** What the table of operations asks about devices. */
export function deviceHandlers({
  devices,
  pairings,
  connected,
  url,
}: {
  readonly devices: Devices;
  readonly pairings: Pairings;
  /** How many sockets and streams a device has open. */
  readonly connected: (device: string) => number;
  /** Where others reach this server; undefined where they cannot. */
  readonly url: () => string | undefined;
}): DeviceHandlers {
  return {
    devices: async () =>
      devices.list().map(({ sum: _, ...device }) => ({
        ...device,
        seenAt: devices.seenAt(device.id),
        connected: connected(device.id),
      })),
    removeDevice: async ({ device }) => {
      if (!(await devices.remove(device))) throw fault("device_unknown", { id: device });
      return {};
    },
    pair: async (question) => {
      const address = url();
      if (address === undefined)
        throw fault("usage", { reason: "This server has only its socket: start it with --port." });
      return { ...pairings.begin(question), url: address };
    },
    pairing: async ({ pairing, known }) => pairings.look(pairing, known),
    answerPairing: async ({ pairing, verdict }) => {
      pairings.answer(pairing, verdict);
      return {};
    },
    link: async () => {
      const address = url();
      if (address === undefined)
        throw fault("usage", { reason: "This server has only its socket: start it with --port." });
      return { link: `${address}/?token=${devices.link("work")}` };
    },
  };
}
