/** What each input of the host does, and what it is answered with at once. Events of the session come by themselves. */
import { attachedFile, escapeMarks } from "../../app/input/input-handler.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { thinkingWith } from "../../app/options.ts";
import type { Json } from "../../kernel/json.ts";
import { never } from "../../kernel/never.ts";
import type { InquiryName } from "../../protocol/inquiry.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import { answerFor, type HostAnswer } from "./answers.ts";
import type { RunnerEvent } from "./events.ts";
import type { Attachment, ErrorCode, InputOf, RunnerInput } from "./inputs.ts";
import { readServers, serversOf } from "./servers.ts";

/** Throws a Fault where the session refuses. */
export async function controls(
  session: OpenSession,
  input: RunnerInput,
  { answered }: { readonly answered: Set<string> },
): Promise<readonly RunnerEvent[]> {
  switch (input.type) {
    case "message": {
      const { id } = input;
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
      await session.submit({ type: "set", patch: { thinking: thinkingWith(maxThinkingTokens ?? 0) } });
      return [{ type: "max_thinking_tokens_changed", maxThinkingTokens }];
    }
    case "inquire": {
      const { inquiry, question } = input;
      // Answers are JSON; what of them is undefined does not travel.
      const answer = (await session.inquire(inquiry as InquiryName, question)) as Json;
      return [{ type: "inquiry_answered", inquiry, answer }];
    }
    case "get_supported_models": {
      const models = await session.inquire("models");
      return [
        {
          type: "supported_models",
          models: models.map(({ id, name, provider, windowTokens }) => ({
            id,
            name,
            provider,
            windowTokens,
          })),
        },
      ];
    }
    case "get_supported_commands":
      return [
        {
          type: "supported_commands",
          commands: session.info.commands
            .filter(({ hidden }) => !hidden)
            .map(({ name, description, argumentHint }) => ({ name, description, argumentHint })),
        },
      ];
    case "get_mcp_status":
      return [{ type: "mcp_status", servers: serversOf(session) }];
    case "get_account_info": {
      const { provider, keySource, model } = session.info;
      return [{ type: "account_info", provider, keySource, model }];
    }
    case "rewind_files": {
      const { checkpoint, preview = false } = input;
      const receipt = await session.submit({ type: "rewind", checkpoint, preview });
      if (receipt.type !== "rewound") return [];
      const { files, skipped, lost, undo } = receipt;
      return [
        {
          type: "files_rewound",
          checkpoint,
          preview,
          files,
          skipped,
          lost,
          ...(undo === undefined ? {} : { undo }),
        },
      ];
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
  if (!ask || answered.has(requestId)) {
    return [
      answered.has(requestId)
        ? complaint("duplicate_id", "The request was answered before.")
        : complaint("unknown_id", "There is no such request, or it is over."),
    ];
  }
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

/** The content of a message: what the person says, then what was attached. */
function contentOf({ content, attachments = [] }: InputOf<"message">): InputBlock[] {
  const said: InputBlock[] =
    typeof content === "string"
      ? [text(withMentions(escapeMarks(content), attachments))]
      : content.map((block) =>
          block.type === "text"
            ? text(escapeMarks(block.text))
            : { type: "image", mediaType: block.source.media_type, data: block.source.data },
        );
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
function withMentions(words: string, attachments: readonly Attachment[]): string {
  const named = attachments.flatMap((attachment) =>
    "data" in attachment || attachment.content !== undefined
      ? []
      : [`@"${attachment.path.replaceAll('"', "")}"`],
  );
  return named.length === 0 ? words : `${words}\n\n${named.join(" ")}`;
}
