/** What each input of the host does, and what it is answered with at once. Events of the session come by themselves. */
import { attachedFile, escapeMarks } from "../../app/input/input-handler.ts";
import { approvalAnswer, planAnswer, questionAnswer } from "../../app/lines/answers.ts";
import type { ErrorCode } from "../../app/lines/read-line.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { thinkingWith } from "../../app/options.ts";
import { readServers } from "../../app/plain-options.ts";
import type { Json } from "../../kernel/json.ts";
import { failed, never, ok, type Result } from "../../kernel/result.ts";
import type { Answer, Ask } from "../../protocol/ask.ts";
import type { InquiryName } from "../../protocol/inquiry.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import type { RunnerEvent } from "./events.ts";
import { serversOf } from "./init.ts";
import type { Attachment, InputOf, RunnerInput } from "./inputs.ts";

/** Throws a Fault where the session refuses. */
export async function controls(
  session: OpenSession,
  input: RunnerInput,
  { answered }: { readonly answered: Set<string> },
): Promise<readonly RunnerEvent[]> {
  switch (input.type) {
    case "message": {
      const { id } = input;
      const missing = await missingAttachment(session, input);
      if (missing !== undefined) return [complaint("bad_field", missing)];
      const receipt = await session.submit({
        type: "input",
        ...(id === undefined ? {} : { id }),
        content: contentOf(input),
      });
      if (receipt.type === "accepted" && receipt.duplicate)
        return [complaint("duplicate_id", "A message with this id was accepted before.")];
      return [];
    }
    case "interrupt": {
      const receipt = await session.submit({ type: "interrupt" });
      // A running turn tells of its end itself.
      return receipt.type === "interrupted" && !receipt.running
        ? [{ type: "interrupted", running: false }]
        : [];
    }
    case "set_model":
      await session.submit({ type: "set", patch: { model: input.model } });
      return [];
    case "set_permission_mode":
      await session.submit({ type: "set", patch: { permissionMode: input.mode } });
      return [];
    case "set_max_thinking_tokens": {
      const { maxThinkingTokens } = input;
      const thinking =
        maxThinkingTokens === null ? ({ kind: "usual" } as const) : thinkingWith(maxThinkingTokens);
      await session.submit({ type: "set", patch: { thinking } });
      return [{ type: "max_thinking_tokens_changed", maxThinkingTokens }];
    }
    case "inquire": {
      const { inquiry, question } = input;
      // Answers are JSON; what of them is undefined does not travel.
      const answer = (await session.inquire(inquiry as InquiryName, question)) as Json;
      return [{ type: "inquiry_answered", inquiry, answer }];
    }
    case "get_supported_models": {
      const known = await session.inquire("models");
      const models = known.map(({ id, name, provider, windowTokens }) => ({
        id,
        name,
        provider,
        windowTokens,
      }));
      return [{ type: "supported_models", models }];
    }
    case "get_supported_commands": {
      const commands = session.info.commands
        .filter(({ hidden }) => !hidden)
        .map(({ name, description, argumentHint }) => ({ name, description, argumentHint }));
      return [{ type: "supported_commands", commands }];
    }
    case "get_mcp_status":
      return [{ type: "mcp_status", servers: serversOf(session) }];
    case "get_account_info": {
      const { provider, keySource } = session.info;
      return [{ type: "account_info", provider, keySource, model: session.context().model }];
    }
    case "rewind_files": {
      const { checkpoint, preview = false } = input;
      const receipt = await session.submit({ type: "rewind", checkpoint, preview });
      if (receipt.type !== "rewound") return [];
      const { files, skipped, lost, undo } = receipt;
      return [{ type: "files_rewound", checkpoint, preview, files, skipped, lost, undo }];
    }
    case "user_question_response":
    case "plan_approval_response":
    case "tool_approval_response":
      return answer(session, input, answered);
    case "set_mcp_servers":
      return [{ type: "mcp_servers_changed", ...(await session.mcp.set(readServers(input.servers))) }];
    case "stop":
      return [];
    default:
      return never(input);
  }
}

/** An approval for nothing is not kept for later, and a second answer changes nothing. */
async function answer(
  session: OpenSession,
  given: HostAnswer,
  answered: Set<string>,
): Promise<readonly RunnerEvent[]> {
  const { requestId } = given;
  const ask = session.openAsks().find(({ id }) => id === requestId);
  if (answered.has(requestId)) return [complaint("duplicate_id", "The request was answered before.")];
  if (!ask) return [complaint("unknown_id", "There is no such request, or it is over.")];
  const found = answerFor(given, ask);
  if (!found.ok) return [complaint("bad_field", found.error)];
  answered.add(requestId);
  const receipt = await session.submit({ type: "answer", askId: requestId, answer: found.value });
  const [oldest] = answered;
  if (answered.size > maxAnswered && oldest !== undefined) answered.delete(oldest);
  return receipt.type === "late"
    ? [complaint("duplicate_id", "The request was answered before, or is over.")]
    : [];
}

/** Answers that are remembered, to tell a second one from one to nothing. */
const maxAnswered = 1_000;

const complaint = (code: ErrorCode, message: string): RunnerEvent => ({
  type: "error",
  code,
  message,
  fatal: false,
});

/** A file that cannot be attached: the message is not taken without it, since the host would never learn of that. */
async function missingAttachment(
  session: OpenSession,
  { attachments = [] }: InputOf<"message">,
): Promise<string | undefined> {
  for (const [at, attachment] of attachments.entries()) {
    if (!isByPath(attachment)) continue;
    const why = await session.whyNotAttached(attachment.path);
    if (why === undefined) continue;
    return `message: attachments.${at}.path: ${JSON.stringify(attachment.path.slice(0, 120))} was not attached: ${why}`;
  }
  return undefined;
}

const isByPath = (attachment: Attachment): attachment is Extract<Attachment, { path: string }> =>
  !("data" in attachment) && attachment.content === undefined;

/** The content of a message: what the person says, then what was attached. */
function contentOf({ content, attachments = [] }: InputOf<"message">): InputBlock[] {
  const mentions = mentionsOf(attachments);
  const said: InputBlock[] =
    typeof content === "string"
      ? [text([escapeMarks(content), ...mentions].join("\n\n"))]
      : [
          ...content.map(
            (block): InputBlock =>
              block.type === "text"
                ? text(escapeMarks(block.text))
                : { type: "image", mediaType: block.source.media_type, data: block.source.data },
          ),
          ...mentions.map(text),
        ];
  return [...said, ...attachments.flatMap(attached)];
}

function attached(attachment: Attachment): InputBlock[] {
  if ("data" in attachment)
    return [{ type: "image", mediaType: attachment.mediaType, data: attachment.data }];
  return attachment.content === undefined
    ? []
    : [attachedFile({ path: attachment.path, content: attachment.content })];
}

/** A file without its text is one of the working folder: mentioned, it is read as far as the model may read it. */
function mentionsOf(attachments: readonly Attachment[]): string[] {
  const named = attachments.filter(isByPath).map(({ path }) => `@"${path}"`);
  return named.length === 0 ? [] : [named.join(" ")];
}

type HostAnswer = InputOf<"user_question_response" | "plan_approval_response" | "tool_approval_response">;

const kinds: Readonly<Record<HostAnswer["type"], readonly Ask["kind"][]>> = {
  user_question_response: ["question"],
  plan_approval_response: ["plan"],
  tool_approval_response: ["permission", "elicitation", "hook", "host-tool"],
};

/** The error is a sentence for the host. */
function answerFor(given: HostAnswer, ask: Ask): Result<Answer> {
  if (!kinds[given.type].includes(ask.kind))
    return failed(`The request ${given.requestId.slice(0, 80)} is not answered by ${given.type}.`);
  switch (given.type) {
    case "user_question_response":
      return questionAnswer(given, ask);
    case "plan_approval_response":
      return ok(planAnswer(given));
    case "tool_approval_response":
      return approvalAnswer(given, ask);
  }
}
