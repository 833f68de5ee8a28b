// A session goes on later, and in a copy: from its end, or from an earlier message.
import assert from "node:assert/strict";
import { forkSession, getSessionMessages, listSessions, type Options, query } from "keel";
import { reply } from "keel/testing";
import { stage } from "./scripted.ts";

await using scripted = await stage({ replies: [reply("Noted: blue."), reply("Blue."), reply("Also blue.")] });

// #region resume-and-fork
async function ask(prompt: string, more: Options = {}): Promise<{ answer: string; session: string }> {
  for await (const message of query({ prompt, options: more }))
    if (message.type === "result" && message.subtype === "success")
      return { answer: message.result, session: message.session_id };
  throw new Error("no answer");
}

const { session } = await ask("My colour is blue.");
const resumed = await ask("What is my colour?", { resume: session });
const [, firstAnswer] = await getSessionMessages(session);
const { sessionId: copy } = await forkSession(session, { upToMessageId: firstAnswer?.uuid ?? "" });
const forked = await ask("And now?", { resume: copy });
// #endregion

assert.equal(resumed.session, session);
assert.equal(resumed.answer, "Blue.");
assert.notEqual(forked.session, session);
assert.doesNotMatch(JSON.stringify(scripted.server.requests[2]?.body), /What is my colour/);
assert.equal((await listSessions({ dir: scripted.cwd })).length, 2);
