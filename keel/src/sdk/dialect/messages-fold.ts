/** The memo with which a session goes on that may have kept it: the dialect's own, over all that has happened. */
import type { HostFold } from "../../app/compose/host-folds.ts";
import { toMessages } from "./dialect.ts";
import { type DialectMemo, type InitFacts, newMemo } from "./memo.ts";

/** Model and mode are the log's word; all other facts this process's. */
export const messagesFold = (facts: InitFacts): HostFold<DialectMemo> => ({
  name: "messages",
  start: newMemo(nobodysFacts),
  step: (memo, event) => toMessages(event, memo)[1],
  takeUp: ({ facts: { model, permissionMode }, ...memo }) => ({
    ...memo,
    facts: { ...facts, model, permissionMode },
  }),
});

const nobodysFacts: InitFacts = {
  sessionId: "",
  cwd: "",
  model: "",
  permissionMode: "default",
  tools: [],
  version: "",
  apiKeySource: "",
};
