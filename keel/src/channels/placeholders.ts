/** What stands in a message for what is no text, so that the agent knows that something was sent. */

const maxAbout = 200;

/** `[Photo]`, `[File: plan.pdf]`. What somebody else has named cannot end it. */
export function placeholder(kind: string, about?: string): string {
  const words = (about ?? "")
    .replace(/[[\]]/g, "")
    .replace(/[\s\p{C}]+/gu, " ")
    .slice(0, maxAbout)
    .trim();
  return words === "" ? `[${kind}]` : `[${kind}: ${words}]`;
}

/** What people wrote beside it comes first: a trigger at its start is a trigger. */
export const withCaption = (thing: string, caption: string | undefined): string =>
  caption === undefined || caption.trim() === "" ? thing : `${caption} ${thing}`;
