/** What fills the context, for a person: a bar and a line for each kind. */
import { type ContextBreakdown, type ContextKind, contextKinds } from "../protocol/usage.ts";
import { sayCount } from "./say.ts";

/** What each is called, and its letter in the bar. */
const kinds: Readonly<Record<ContextKind, { readonly name: string; readonly mark: string }>> = {
  system: { name: "system prompt", mark: "s" },
  tools: { name: "tools", mark: "t" },
  mcp: { name: "tools of MCP servers", mark: "c" },
  instructions: { name: "instructions", mark: "i" },
  skills: { name: "skills", mark: "k" },
  messages: { name: "messages", mark: "m" },
};
const width = 60;

export function sayContext(context: ContextBreakdown): string {
  const { model, windowTokens, totalTokens, freeTokens, compactAtTokens, tokens } = context;
  const used = contextKinds.filter((kind) => tokens[kind] > 0);
  const rows = used.map((kind) => row(kinds[kind].mark, kinds[kind].name, tokens[kind], windowTokens));
  return [
    `${model}: ${sayCount(totalTokens)} of ${sayCount(windowTokens)} tokens (${share(totalTokens, windowTokens)})`,
    contextBar(context),
    ...rows,
    row("·", "free", freeTokens, windowTokens),
    ...(compactAtTokens === null
      ? ["The conversation is not shortened by itself."]
      : [`The conversation is shortened by itself at ${sayCount(compactAtTokens)} tokens.`]),
  ].join("\n");
}

/** As many characters as `columns`, one letter for each kind, a dot for what is free. Whatever is there has a letter. */
export function contextBar({ tokens, windowTokens }: ContextBreakdown, columns = width): string {
  const cells = contextKinds.map((kind) =>
    tokens[kind] === 0 ? 0 : Math.max(1, Math.round((tokens[kind] / Math.max(1, windowTokens)) * columns)),
  );
  const bar = contextKinds.map((kind, index) => kinds[kind].mark.repeat(cells[index] ?? 0)).join("");
  return `[${bar.slice(0, columns).padEnd(columns, "·")}]`;
}

const row = (mark: string, name: string, tokens: number, window: number): string =>
  `  ${mark} ${name.padEnd(22)}${sayCount(tokens).padStart(12)}${share(tokens, window).padStart(9)}`;

const share = (tokens: number, window: number): string =>
  window > 0 ? `${((tokens / window) * 100).toFixed(1)} %` : "";
