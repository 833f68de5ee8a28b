/**
 * The law of the budget: no request goes out when it is used up, and several at once only as far as what they are
 * expected to cost fits together. Counts by itself, from every event of every session at the moment it is recorded.
 */
import type { BudgetLimits, Spending } from "../../keel/src/agents/budget.ts";
import { costOf } from "../../keel/src/protocol/bill.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { contextTokens, type ModelInfo } from "../../keel/src/protocol/usage.ts";
import type { Disks } from "./disk.ts";

/** Sums of fractions. */
const hair = 1e-9;
/** What a reply is taken for before it is there. */
const usualReplyTokens = 1_000;

export class BudgetChecks {
  readonly #limits: BudgetLimits;
  readonly #info: ModelInfo;
  readonly #complain: (words: string) => void;
  /** By session: each has one request under way at most. */
  #open = new Map<string, Spending>();
  #disks: Disks | undefined;
  #spent: Spending = { usd: 0, tokens: 0 };

  constructor(
    limits: BudgetLimits,
    { info, complain }: { info: ModelInfo; complain: (words: string) => void },
  ) {
    this.#limits = limits;
    this.#info = info;
    this.#complain = complain;
  }

  /** A new process: only what the disks say was spent. */
  begin(disks: Disks): void {
    this.#disks = disks;
    this.#open = new Map();
    this.#spent = this.#onDisks();
  }

  /** A log may have become unreadable since the process began: then only what is on the others counts. */
  #surely(): Spending {
    const all = [...(this.#disks?.all.values() ?? [])];
    return all.some(({ failures }) => failures.has("unreadable")) ? this.#onDisks() : this.#spent;
  }

  /** What an agent's log said that could not be read is not known, and with it what it knew of its own agents. */
  #onDisks(): Spending {
    const disks = this.#disks;
    const isKnown = (id: string): boolean => {
      const [first] = disks?.get(id)?.eventsAfter(0) ?? [];
      const parent = first?.type === "session.opened" ? first.parent?.session : undefined;
      if (parent === undefined) return true;
      return disks?.get(id)?.failures.has("unreadable") === false && isKnown(parent);
    };
    const known = [...(disks?.all ?? [])].filter(([id]) => isKnown(id));
    const all = known.map(([, disk]) => chargesIn(disk.eventsAfter(0)));
    return all.reduce(add, { usd: 0, tokens: 0 });
  }

  hear(event: Durable): void {
    if (event.type === "model.started") this.#lookAtStart(event);
    else if ("requestId" in event) this.#open.delete(event.session);
    this.#spent = add(this.#spent, chargesIn([event]));
  }

  #lookAtStart({ requestId, predicted, session }: Extract<Durable, { type: "model.started" }>): void {
    const { maxBudgetUsd, maxTokens } = this.#limits;
    const usage = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, ...predicted };
    const reply = { ...usage, outputTokens: usualReplyTokens };
    const wish = { usd: costOf(reply, this.#info.prices) ?? 0, tokens: contextTokens(reply) };
    const isUsed = ({ usd, tokens }: Spending): boolean => usd >= maxBudgetUsd + hair || tokens >= maxTokens;
    if (isUsed(this.#spent) && isUsed(this.#surely()))
      this.#complain(`request ${requestId} went out although the budget was used up`);
    // What a log did not take has ended without a word.
    const others = [...this.#open].filter(([id]) => !this.#disks?.get(id)?.failures.has("full"));
    const reserved = others.map(([, each]) => each).reduce(add, wish);
    const isTooMuch = (spent: Spending): boolean =>
      spent.usd + reserved.usd > maxBudgetUsd + hair || spent.tokens + reserved.tokens > maxTokens;
    if (others.length > 0 && isTooMuch(this.#spent) && isTooMuch(this.#surely()))
      this.#complain(`request ${requestId} went out although it does not fit beside ${others.length} others`);
    this.#open.set(session, wish);
  }
}

const add = (left: Spending, right: Spending): Spending => ({
  usd: left.usd + right.usd,
  tokens: left.tokens + right.tokens,
});

/** What requests are known to have used. */
export function chargesIn(events: readonly Durable[]): Spending {
  return events.reduce((sum, event) => add(sum, chargeOf(event)), { usd: 0, tokens: 0 });
}

function chargeOf(event: Durable): Spending {
  if (!("usage" in event) || !("requestId" in event)) return { usd: 0, tokens: 0 };
  return { usd: event.costUsd ?? 0, tokens: event.usage ? contextTokens(event.usage) : 0 };
}
