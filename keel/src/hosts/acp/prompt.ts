/** What an editor sends as a prompt, as what a person may send. Pure. */
import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResource } from "@agentclientprotocol/sdk";
import { imageTypes } from "../../app/lines/pictures.ts";
import { fault } from "../../kernel/fault.ts";
import { type InputBlock, text } from "../../protocol/message.ts";

/**
 * Words and what they name become one text, as they were typed: a file that is linked is mentioned in it, and so read as
 * one that a person names. What is embedded follows in blocks of its own. Throws `usage` for a kind that is not taken.
 */
export function inputOf(prompt: readonly ContentBlock[]): InputBlock[] {
  const words = prompt.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return block.type === "resource_link" ? [` ${linkWords(block)} `] : [];
  });
  const typed = words.join("").trim();
  const others = prompt.flatMap(besideWords);
  return [...(typed === "" ? [] : [text(typed)]), ...others];
}

function besideWords(block: ContentBlock): InputBlock[] {
  switch (block.type) {
    case "text":
    case "resource_link":
      return [];
    case "image":
      return [{ type: "image", mediaType: block.mimeType, data: block.data }];
    case "resource":
      return [embedded(block.resource)];
    case "audio":
      throw fault("usage", { reason: "Sound is not taken: the agent did not announce it." });
  }
}

/** A file of this machine as a mention, which attaches it; anything else by its name and address. */
function linkWords({ uri, name }: Extract<ContentBlock, { type: "resource_link" }>): string {
  const place = placeOf(uri);
  if (place === undefined || /["\n]/.test(place)) return `[${name}](${uri})`;
  return `@"${place}"`;
}

/** With the line that it names: `#L10` and `#L10-20`, also with a colon between. */
function placeOf(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.protocol !== "file:") return undefined;
  const [, from, to] = /^#L?(\d{1,9})(?:[-:]L?(\d{1,9}))?$/.exec(url.hash) ?? [];
  url.hash = "";
  url.search = "";
  try {
    const path = fileURLToPath(url);
    return from === undefined ? path : `${path}#L${from}${to === undefined ? "" : `-${to}`}`;
  } catch {
    // A name of another machine, or signs that no path has.
    return undefined;
  }
}

function embedded(resource: EmbeddedResource["resource"]): InputBlock {
  const { uri, mimeType } = resource;
  if ("text" in resource) return text(`<resource uri=${JSON.stringify(uri)}>\n${resource.text}\n</resource>`);
  const isEmpty = resource.blob === "";
  if (!isEmpty && imageTypes.safeParse(mimeType).success && mimeType != null)
    return { type: "image", mediaType: mimeType, data: resource.blob };
  if (!isEmpty && mimeType === "application/pdf")
    return { type: "document", mediaType: mimeType, data: resource.blob, name: uri };
  return text(`<resource uri=${JSON.stringify(uri)}>(${mimeType ?? "bytes"}, not shown)</resource>`);
}
