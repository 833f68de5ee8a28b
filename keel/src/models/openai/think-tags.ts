/**
 * Thinking that a model writes into its text, between tags at its very start, as small models and the servers of their
 * templates do. Only there: further down a tag is a word like any other.
 */
type TaggedPiece = { readonly type: "text" | "thinking"; readonly text: string };

export type ThinkTags = {
  add(text: string): TaggedPiece[];
  /** What was held back, because it might have become a tag. */
  end(): TaggedPiece[];
};

const openings = ["<think>", "<thinking>", "<thought>", "<reasoning>"];

export function thinkTags(): ThinkTags {
  let state: "start" | "inside" | "behind" | "outside" = "start";
  let held = "";
  let closing = "";

  const outside = (): TaggedPiece[] => {
    const text = state === "behind" ? held.trimStart() : held;
    if (state === "behind" && text === "") return [];
    state = "outside";
    held = "";
    return text === "" ? [] : [{ type: "text", text }];
  };

  const inside = (): TaggedPiece[] => {
    const at = held.indexOf(closing);
    if (at === -1) {
      const kept = heldBack(held, closing);
      const text = held.slice(0, held.length - kept);
      held = held.slice(held.length - kept);
      return text === "" ? [] : [{ type: "thinking", text }];
    }
    const text = held.slice(0, at);
    held = held.slice(at + closing.length);
    state = "behind";
    return [...(text === "" ? [] : [{ type: "thinking", text } as const]), ...outside()];
  };

  return {
    add(text) {
      if (state === "outside") return text === "" ? [] : [{ type: "text", text }];
      held += text;
      if (state === "behind") return outside();
      if (state === "inside") return inside();
      const start = held.trimStart();
      const opening = openings.find((tag) => start.startsWith(tag));
      if (opening !== undefined) {
        state = "inside";
        closing = opening.replace("<", "</");
        held = start.slice(opening.length).replace(/^\n/, "");
        return inside();
      }
      return openings.some((tag) => tag.startsWith(start)) ? [] : outside();
    },
    end() {
      const text = held;
      held = "";
      if (text === "" || state === "behind") return [];
      return [{ type: state === "inside" ? "thinking" : "text", text }];
    },
  };
}

/** How many characters at the end may be the beginning of the tag. */
function heldBack(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--)
    if (tag.startsWith(text.slice(-length))) return length;
  return 0;
}
