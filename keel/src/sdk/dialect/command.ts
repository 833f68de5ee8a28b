/** A command that needed no model, as programs hear of it: an answer in the place of one, and a result without a turn. */
import type { Live } from "../../protocol/event/live.ts";
import { noUsage } from "../../protocol/usage.ts";
import type { SDKMessage } from "../messages/messages.ts";
import { toUsage } from "./blocks.ts";
import type { DialectMemo } from "./memo.ts";
import { resultWithoutTurn } from "./result.ts";
import { identity, initMessage, liveIdentity, timestamp } from "./say.ts";

/** Where a turn runs, its result is still to come: then the words are only told. */
export function fromCommand(
  { name, text, at }: Extract<Live, { type: "command.answered" }>,
  memo: DialectMemo,
): [SDKMessage[], DialectMemo] {
  const [id, next] = liveIdentity(memo, { at });
  if (memo.turn) return [[{ type: "system", subtype: "local_command_output", ...id, content: text }], next];
  const label = `command/${memo.livesSince}/${at}`;
  const answer: SDKMessage = {
    type: "assistant",
    message: {
      id: id.uuid,
      type: "message",
      role: "assistant",
      model: "<synthetic>",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: toUsage(noUsage),
    },
    parent_tool_use_id: null,
    ...id,
    ...timestamp(at),
  };
  const [result, after] = resultWithoutTurn(next, {
    ending: { kind: "answer", text, isError: false, terminal: "completed" },
    ms: 0,
    more: { local_command: name },
  });
  // The newest fact may be a turn's end, whose result has the usual name already.
  const told = { ...result, ...identity(memo, `result/${label}`) };
  return [[initMessage(memo, `init/${label}`), answer, told], after];
}
