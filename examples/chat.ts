// A conversation: one session, several messages, text as it is written.
import assert from "node:assert/strict";
import { createSession } from "keel";
import { reply } from "keel/testing";
import { stage } from "./scripted.ts";

await using _ = await stage({
  replies: [reply("Hello! What is your name?"), reply("Nice to meet you, Ada.")],
});

// #region chat
await using session = await createSession({ includePartialMessages: true });
const answers: string[] = [];
for (const words of ["Hi!", "I am Ada."]) {
  await session.send(words);
  for await (const message of session.stream()) {
    if (message.type === "stream_event" && message.event.type === "content_block_delta")
      process.stdout.write(message.event.delta.type === "text_delta" ? message.event.delta.text : "");
    if (message.type === "result" && message.subtype === "success") answers.push(message.result);
  }
  process.stdout.write("\n");
}
// #endregion

assert.deepEqual(answers, ["Hello! What is your name?", "Nice to meet you, Ada."]);
