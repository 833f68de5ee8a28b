/** What requests and agents cost, on the bill of the session and of its turn. Pure. */
import type { Durable } from "../../protocol/event/durable.ts";
import { addUsage, type Bill, type Usage } from "../../protocol/usage.ts";
import { addBills, addToBill } from "./cost.ts";
import type { Turn } from "./turn.ts";

type Billed = { readonly turn: Turn | null; readonly bill: Bill };
type RequestCharge = { readonly usage: Usage | null; readonly costUsd: number | null; readonly ms: number };

export function charged<S extends Billed>(state: S, model: string, charge: RequestCharge): S {
  const turn = state.turn && {
    ...state.turn,
    usage: charge.usage ? addUsage(state.turn.usage, charge.usage) : state.turn.usage,
    costUsd: state.turn.costUsd + (charge.costUsd ?? 0),
    apiMs: state.turn.apiMs + charge.ms,
  };
  return { ...state, turn, bill: addToBill(state.bill, model, charge) };
}

/** An agent's end brings its bill. It counts for the session; a turn's own figures are those of its own requests. */
export function withTask<S extends Billed>(state: S, event: Extract<Durable, { type: "task.changed" }>): S {
  const bill = event.status === "running" ? undefined : event.data?.bill;
  return bill ? { ...state, bill: addBills(state.bill, bill) } : state;
}
