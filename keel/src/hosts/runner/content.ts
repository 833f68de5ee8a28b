/** The content of a message: what the person says, then what was attached. */
import { attachedFile, escapeMarks } from "../../app/input/attached-file.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import type { Attachment, InputOf } from "./inputs.ts";

export function contentOf({ content, attachments = [] }: InputOf<"message">): InputBlock[] {
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
