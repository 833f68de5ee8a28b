/** A question to the person as a permission request, and what its answer means. Pure. */
import type {
  PermissionOption,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import { visible } from "../../kernel/text.ts";
import type { Answer, Ask, AskOption } from "../../protocol/ask.ts";
import { askOrigin, askTitle } from "../../view/ask-words.ts";
import { choiceAnswer } from "../../view/choices.ts";
import { wholeDiff } from "./diffs.ts";
import { callFields, contentOf, fenced, textContent } from "./tool-calls.ts";

/** Under which name an ask's id goes along: it is the same one when the ask comes again. */
export const askIdField = "keel/askId";

/** Undefined for what picking an option cannot answer. */
export function permissionRequest(
  ask: Ask,
  { sessionId, cwd, file }: { sessionId: string; cwd: string; file?: string | undefined },
): RequestPermissionRequest | undefined {
  const options = offered(ask);
  if (options.every(({ verdict }) => verdict === "deny")) return undefined;
  const { tool, input = null } = ask;
  const about = tool === undefined ? { title: visible(ask.title) } : callFields({ tool, input }, cwd);
  return {
    sessionId,
    toolCall: {
      toolCallId: ask.callId ?? ask.id,
      status: "pending",
      ...about,
      content: contentFor(ask, file),
    },
    options: options.map((option) => optionOf(option)),
    _meta: { [askIdField]: ask.id },
  };
}

/** Two that both mean no are one; a choice that takes data is none where there is no form for it. */
function offered({ options, kind, schema }: Ask): readonly AskOption[] {
  const no = options.find(({ verdict }) => verdict === "deny");
  const yes = options.filter(({ verdict }) => verdict === "allow");
  const isForm = schema !== undefined && (kind !== "question" || yes.length < 2);
  return [...(isForm ? [] : yes), ...(no ? [no] : [])];
}

const optionOf = ({ id, label, verdict, rule }: AskOption): PermissionOption => ({
  optionId: id,
  name: visible(label),
  kind: verdict === "deny" ? "reject_once" : rule === undefined ? "allow_once" : "allow_always",
});

/** All that is decided about, to the last sign: the change of a file as a whole where it is known, a command as it runs. */
function contentFor(ask: Ask, file: string | undefined): ToolCallContent[] {
  const { body, reason } = ask;
  const whole = body.kind === "diff" && file !== undefined ? wholeDiff(body, file) : undefined;
  const shown =
    body.kind === "terminal" ? [textContent(fenced(body.command, "sh"))] : whole ? [whole] : contentOf(body);
  const asker = askOrigin(ask);
  const words = [
    ...(ask.kind === "permission" ? [] : [visible(askTitle(ask))]),
    ...(reason === undefined ? [] : [visible(reason)]),
    ...(asker === undefined ? [] : [asker]),
  ].filter((line) => line !== "");
  return [...shown, ...(words.length === 0 ? [] : [textContent(words.join("\n\n"))])];
}

/** A request that was cancelled ends the turn: that is what the protocol means by it. */
export function answerOf(ask: Ask, outcome: RequestPermissionOutcome): Answer {
  if (outcome.outcome === "cancelled") return { verdict: "deny", interrupt: true };
  const option = ask.options.find(({ id }) => id === outcome.optionId);
  return choiceAnswer(option && { option });
}

/** Where the editor has no way to ask it. */
export const unaskable: Answer = {
  verdict: "deny",
  reason: "The editor has no form for this question. Ask it in words.",
};
