// A hundred sessions in one process, at the same time: no process for each, and nothing that they share.
import assert from "node:assert/strict";
import { query } from "keel";
import { reply } from "keel/testing";
import { stage } from "./scripted.ts";

await using scripted = await stage({ replies: [], otherwise: reply("Done.") });

// #region hundred-sessions
async function one(number: number): Promise<string> {
  for await (const message of query({ prompt: `You are number ${number}.` }))
    if (message.type === "result") return message.session_id;
  throw new Error(`number ${number} gave no result`);
}

const sessions = await Promise.all(Array.from({ length: 100 }, (_, number) => one(number)));
// #endregion

assert.equal(new Set(sessions).size, 100);
assert.equal(scripted.server.requests.length, 100);
