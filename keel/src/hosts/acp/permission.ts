/** A question to the person as a permission request, in each version, and what its answer means. Pure. */
import type {
  ToolCallContent as ContentV1,
  PermissionOption,
  RequestPermissionRequest as RequestV1,
} from "@agentclientprotocol/sdk";
import type {
  ToolCallContent as ContentV2,
  RequestPermissionRequest as RequestV2,
} from "@agentclientprotocol/sdk/experimental/v2";
import { asObject } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { Answer, Ask, AskOption } from "../../protocol/ask.ts";
import { askOrigin, askTitle } from "../../view/ask-words.ts";
import { choiceAnswer } from "../../view/choices.ts";
import { diffOf, diffsOf, wholeDiff } from "./diffs.ts";
import { callFields, contentOf, fenced, textContent } from "./tool-calls.ts";

/** Under which name an ask's id goes along: it is the same one when the ask comes again. */
export const askIdField = "keel/askId";

/** `file`: the text that is to be changed, where it is known. */
export type AskPlace = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly file?: string | undefined;
};

/** Undefined for what picking an option cannot answer. */
export function permissionV1(ask: Ask, { sessionId, cwd, file }: AskPlace): RequestV1 | undefined {
  const options = offered(ask);
  if (options.every(({ verdict }) => verdict === "deny")) return undefined;
  const { body } = ask;
  const whole = body.kind === "diff" && file !== undefined ? wholeDiff(body, file) : undefined;
  const shown: ContentV1[] = body.kind === "diff" ? (whole ? [whole] : diffsOf(body)) : shownBy(body);
  const words = wordsOf(ask);
  return {
    sessionId,
    toolCall: {
      toolCallId: ask.callId ?? ask.id,
      status: "pending",
      ...about(ask, cwd),
      content: [...shown, ...(words === undefined ? [] : [textContent(words)])],
    },
    options: options.map(optionOf),
    _meta: { [askIdField]: ask.id },
  };
}

/** A command is named as such; anything else by its call. */
export function permissionV2(ask: Ask, { sessionId, cwd }: AskPlace): RequestV2 | undefined {
  const options = offered(ask);
  if (options.every(({ verdict }) => verdict === "deny")) return undefined;
  const { body, callId } = ask;
  const content: ContentV2[] = body.kind === "diff" ? [diffOf(body)] : shownBy(body);
  const description = wordsOf(ask);
  return {
    sessionId,
    title: about(ask, cwd).title || visible(askTitle(ask)),
    ...(description === undefined ? {} : { description }),
    subject:
      body.kind === "terminal"
        ? {
            type: "command",
            command: body.command,
            cwd,
            ...(callId === undefined ? {} : { toolCallId: callId }),
          }
        : {
            type: "tool_call",
            toolCall: { toolCallId: callId ?? ask.id, status: "pending", ...about(ask, cwd), content },
          },
    options: options.map(optionOf),
    _meta: { [askIdField]: ask.id },
  };
}

const about = ({ tool, input = null, title }: Ask, cwd: string) =>
  tool === undefined ? { title: visible(title) } : callFields({ tool, input }, cwd);

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

/** All that is decided about, to the last sign: a command as it runs. */
const shownBy = (body: Exclude<Ask["body"], { kind: "diff" }>) =>
  body.kind === "terminal" ? [textContent(fenced(body.command, "sh"))] : contentOf(body);

function wordsOf(ask: Ask): string | undefined {
  const { reason } = ask;
  const asker = askOrigin(ask);
  const words = [
    ...(ask.kind === "permission" ? [] : [visible(askTitle(ask))]),
    ...(reason === undefined ? [] : [visible(reason)]),
    ...(asker === undefined ? [] : [asker]),
  ].filter((line) => line !== "");
  return words.length === 0 ? undefined : words.join("\n\n");
}

/** A request that was cancelled ends the turn: that is what the protocol means by it. What is not understood is a no. */
export function answerOf(ask: Ask, response: unknown): Answer {
  const { outcome, optionId } = asObject(asObject(response)["outcome"]);
  if (outcome === "cancelled") return { verdict: "deny", interrupt: true };
  const option = outcome === "selected" ? ask.options.find(({ id }) => id === optionId) : undefined;
  return choiceAnswer(option && { option });
}

/** Where the editor has no way to ask it. */
export const unaskable: Answer = {
  verdict: "deny",
  reason: "The editor has no form for this question. Ask it in words.",
};
