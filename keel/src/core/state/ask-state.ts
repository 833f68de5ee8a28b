/** Questions as the fold knows them: what is open, how it was closed, and what an answer adds. Pure. */

import { type Learnt, learn } from "../../policy/changes.ts";
import type { Answer, AnsweredBy, Ask } from "../../protocol/ask.ts";
import type { Durable } from "../../protocol/event/durable.ts";

type AskState = {
  readonly asks: readonly Ask[];
  readonly answers: ReadonlyMap<string, { readonly answer: Answer; readonly by: AnsweredBy }>;
  readonly learnt: Learnt;
};

export function closeAsk<S extends AskState>(state: S, event: Extract<Durable, { type: "ask.closed" }>): S {
  const ask = state.asks.find(({ id }) => id === event.askId);
  const { answer } = event;
  const rule = ask?.options.find(({ id }) => id === answer.option)?.rule;
  const added =
    answer.verdict === "deny" ? [] : [...(rule === undefined ? [] : [rule]), ...(answer.rules ?? [])];
  return {
    ...state,
    asks: state.asks.filter(({ id }) => id !== event.askId),
    answers: new Map(state.answers).set(event.askId, { answer: event.answer, by: event.by }),
    learnt: learn(state.learnt, [{ type: "rules", change: "add", list: "allow", rules: added }]),
  };
}
