/** What came with words or a result and is no text: told in a line, and drawn below it where it is a picture. */
import type { InputBlock, ResultPart } from "../../../protocol/message.ts";
import { sayAttachments } from "../../../view/say-row.ts";
import { inertOne } from "../text/inert.ts";
import { asIs, dim, type PrintLine, type TextSpan } from "../text/styled.ts";

export const attachmentLines = (parts: readonly (InputBlock | ResultPart)[], lead: TextSpan): PrintLine[] =>
  parts.flatMap((part) =>
    sayAttachments([part]).map((text) => ({
      ...asIs(lead, dim(inertOne(text))),
      ...(part.type === "image" ? { picture: part } : {}),
    })),
  );
