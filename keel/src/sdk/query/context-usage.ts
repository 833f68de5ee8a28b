/** What fills the window, in the words of the interface: categories, a grid of a hundred squares, and what is in them. */
import type { OpenSession } from "../../app/open-session.ts";
import type { ContextKind, Usage } from "../../protocol/usage.ts";
import type { McpServerStatus } from "../tools/mcp-server.ts";
import type { SDKControlGetContextUsageResponse } from "./responses.ts";

type ContextCategory = SDKControlGetContextUsageResponse["categories"][number];
type Square = SDKControlGetContextUsageResponse["gridRows"][number][number];

export async function contextUsage(
  session: OpenSession,
  servers: readonly McpServerStatus[],
): Promise<SDKControlGetContextUsageResponse> {
  const context = await session.inquire("context");
  const { model, totalTokens, windowTokens, freeTokens, compactAtTokens, tokens } = context;
  const categories = [
    ...Object.entries(tokens).map(([kind, count]) => category(names[kind as ContextKind], count, "used")),
    category({ id: "free_space", name: "Free space" }, freeTokens, "free"),
  ];
  const { usage, files } = await toldSoFar(session);
  return {
    categories,
    totalTokens,
    maxTokens: windowTokens,
    rawMaxTokens: windowTokens,
    gridRows: gridOf(categories, windowTokens),
    memoryFiles: files.map((path) => ({
      path,
      type: typeOf(path, session),
      tokens: Math.round(tokens.instructions / files.length),
    })),
    mcpTools: servers.flatMap(({ name, tools = [] }) =>
      tools.map((tool) => ({ name: `mcp__${name}__${tool.name}`, serverName: name, tokens: 0 })),
    ),
    agents: [],
    apiUsage: usage,
    ...(compactAtTokens === null ? {} : { autoCompactThreshold: compactAtTokens }),
    isAutoCompactEnabled: compactAtTokens !== null,
    percentage: windowTokens > 0 ? Math.round((totalTokens / windowTokens) * 100) : 0,
    model,
  };
}

const names: Readonly<Record<ContextKind, Required<Pick<ContextCategory, "id" | "name">>>> = {
  system: { id: "system_prompt", name: "System prompt" },
  tools: { id: "system_tools", name: "System tools" },
  mcp: { id: "mcp_tools", name: "MCP tools" },
  instructions: { id: "memory_files", name: "Memory files" },
  skills: { id: "skills", name: "Skills" },
  messages: { id: "messages", name: "Messages" },
};

/** Colours are the host's. */
const category = (
  about: Pick<ContextCategory, "id" | "name">,
  tokens: number,
  kind: ContextCategory["kind"],
): ContextCategory => ({ ...about, tokens, color: "", kind });

const squares = 100;
const squaresInRow = 10;

/** A square for each hundredth of the window; what is there at all has one. */
function gridOf(categories: readonly ContextCategory[], windowTokens: number): Square[][] {
  if (windowTokens <= 0) return [];
  const used = categories.filter(({ kind, tokens }) => kind === "used" && tokens > 0).flatMap(squaresOf);
  const free = categories.filter(({ kind }) => kind === "free");
  const rest = free.flatMap((each) => Array.from({ length: squares }, () => square(each, 1)));
  const all = [...used, ...rest];
  return Array.from({ length: squares / squaresInRow }, (_, row) =>
    all.slice(row * squaresInRow, (row + 1) * squaresInRow),
  );

  function squaresOf(each: ContextCategory): Square[] {
    const share = (each.tokens / windowTokens) * squares;
    const count = Math.max(1, Math.round(share));
    return Array.from({ length: count }, (_, index) => square(each, Math.min(1, Math.max(0, share - index))));
  }

  function square({ name, tokens, color, kind }: ContextCategory, squareFullness: number): Square {
    const percentage = Math.round((tokens / windowTokens) * 100);
    return { color, isFilled: kind === "used", categoryName: name, tokens, percentage, squareFullness };
  }
}

/** What the newest reply used, and which instruction files were told since the conversation was last shortened. */
async function toldSoFar(session: Pick<OpenSession, "history">) {
  let usage: SDKControlGetContextUsageResponse["apiUsage"] = null;
  const files = new Set<string>();
  for await (const event of session.history()) {
    if (event.type === "model.finished") usage = counted(event.usage);
    if (event.type === "context.compacted" || event.type === "context.cleared") files.clear();
    if (event.type === "context.added" && event.why === "instructions")
      for (const path of event.files ?? []) files.add(path);
  }
  return { usage, files: [...files] };
}

const counted = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: cacheWriteTokens,
  cache_read_input_tokens: cacheReadTokens,
});

function typeOf(path: string, { info }: Pick<OpenSession, "info">): string {
  if (/\.local\.[^/\\]*$/.test(path)) return "Local";
  return info.roots.some((root) => path.startsWith(root)) ? "Project" : "User";
}
