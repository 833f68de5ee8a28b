/** The memo with which a session goes on that may have kept it: the dialect's own, over all that has happened. */

import type { HostFold } from "../../app/compose/host-folds.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { toMessages } from "./dialect.ts";
import { type DialectMemo, type InitFacts, newMemo, noFacts } from "./memo.ts";

/** Model and mode are the log's word; all other facts this process's. */
export const messagesFold = (facts: InitFacts): HostFold<DialectMemo> => ({
  name: "messages",
  start: newMemo(noFacts),
  step: (memo, event) => toMessages(event, memo)[1],
  takeUp: ({ facts: { model, permissionMode }, ...memo }) => ({
    ...memo,
    facts: { ...facts, model, permissionMode },
  }),
});

/** What a session tells of itself when it is opened; which servers there are, each turn says anew. */
export const factsOf = (
  { id, info, notices }: Pick<OpenSession, "id" | "info" | "notices">,
  version: string,
): InitFacts => ({
  sessionId: id,
  cwd: info.cwd,
  model: info.model,
  permissionMode: info.permissionMode,
  tools: info.tools,
  agents: info.agents.map(({ name }) => name),
  slashCommands: info.commands.map(({ name }) => name),
  skills: info.skills,
  plugins: info.plugins.map((plugin) => ({ ...plugin })),
  outputStyle: info.outputStyle.name,
  memoryFolder: info.memoryFolder,
  version,
  apiKeySource: info.keySource,
  models: info.models,
  warnings: notices.flatMap(({ level, text }) => (level === "warning" ? [text] : [])),
  projectTrust: { root: info.trust.root, state: info.trust.state, left_out: [...info.trust.leftOut] },
});
