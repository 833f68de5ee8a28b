/** Images and documents beside words. Nothing is loaded: an image is the bytes that the event has. */
import type { InputBlock, ResultPart } from "keel/protocol";
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Icon } from "../kit/icon.tsx";
import { words } from "../words.ts";

/** What a browser draws and never runs. */
const drawable = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export function Attachments({
  parts,
}: {
  readonly parts: readonly (InputBlock | ResultPart)[];
}): ReactElement | null {
  const attached = parts.filter((part) => part.type !== "text");
  if (attached.length === 0) return null;
  return (
    <ul className="attachments">
      {attached.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one message stay in their places
        <li key={index}>
          {part.type === "image" && part.data !== "" && drawable.has(part.mediaType) ? (
            <img src={`data:${part.mediaType};base64,${part.data}`} alt={words.image} />
          ) : (
            <span className="attachment">
              <Icon name={part.type === "image" ? "image" : "file"} />
              {visible(("name" in part && part.name) || part.mediaType)}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
