/** Fills the tables of conversations as if so many logs had been taken in. Not measured. */
import { sqliteConversations, type TakenLog } from "../../keel/src/store/sqlite/conversations.ts";
import { runProgram } from "../program.ts";
import { proseOf } from "../workloads/prose.ts";

const messagesOfEach = 20;
const words = 30;
const atOnce = 500;

await runProgram(async ({ home, messages }: { home: string; messages: number }) => {
  const cache = sqliteConversations({ home });
  const prose = proseOf(1);
  const count = Math.ceil(messages / messagesOfEach);
  const ids = Array.from(
    { length: count },
    (_, number) => `019ab000-0000-7000-8000-${String(number).padStart(12, "0")}`,
  );
  for (let from = 0; from < count; from += atOnce)
    await cache.takeIn(
      ids.slice(from, from + atOnce).map((id, at): TakenLog => {
        const createdAt = 1_780_000_000_000 + (from + at) * 60_000;
        return {
          id,
          cwd: "/project",
          createdAt,
          title: undefined,
          seq: messagesOfEach,
          bytes: messagesOfEach,
          uses: [],
          charges: [],
          failures: [],
          messages: Array.from({ length: messagesOfEach }, (_, number) => ({
            id: `${id}:${number}`,
            role: number % 2 === 0 ? "user" : "assistant",
            content: [{ type: "text", text: prose.text(words) }],
            at: createdAt + number,
          })),
        };
      }),
    );
  await cache.setWhole(new Set(ids));
  cache.close();
  return {};
});
