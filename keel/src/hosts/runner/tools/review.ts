/** Review comments: kept as results of calls in the session's log, and read back from there. */
import * as z from "zod/mini";
import type { OwnTool } from "../../../app/compose/own-tools.ts";
import type { Durable } from "../../../protocol/event/durable.ts";
import { workspaceServer, workspaceTool } from "./define.ts";

const addName = "add_review_comment";

const commentSchema = z.object({
  id: z.string(),
  file: z.string(),
  line: z.number(),
  body: z.string(),
  severity: z.enum(["error", "warning", "suggestion", "info"]),
});
export type ReviewComment = z.infer<typeof commentSchema>;

export type History = () => AsyncIterable<Durable>;

export function reviewTools({ history, uuid }: { history: History; uuid: () => string }): OwnTool[] {
  const all = async (): Promise<ReviewComment[]> => {
    const found: ReviewComment[] = [];
    for await (const event of history()) {
      if (
        event.type !== "tool.finished" ||
        event.tool !== `mcp__${workspaceServer}__${addName}` ||
        event.failed
      )
        continue;
      const parsed = commentSchema.safeParse(event.data);
      if (parsed.success) found.push(parsed.data);
    }
    return found;
  };
  return [
    workspaceTool({
      name: addName,
      description: "Leaves a review comment on a line of a file for the person to see.",
      input: z.object({
        file: z.string().check(z.minLength(1), z.describe("The path of the file.")),
        line: z.int().check(z.minimum(1), z.describe("The line, from 1.")),
        body: z.string().check(z.minLength(1), z.maxLength(10_000), z.describe("The comment.")),
        severity: z.optional(commentSchema.shape.severity),
      }),
      run: async ({ file, line, body, severity = "suggestion" }) => {
        const comment = { id: uuid(), file, line, body, severity };
        return { says: `Comment added to ${file}:${line}.`, data: comment };
      },
    }),
    workspaceTool({
      name: "list_review_comments",
      description: "The review comments of this session, of one file or of all.",
      input: z.object({ file: z.optional(z.string().check(z.describe("Only those of this file."))) }),
      run: async ({ file }) => {
        const comments = (await all()).filter((comment) => file === undefined || comment.file === file);
        const lines = comments.map(
          ({ file: at, line, severity, body }) => `${at}:${line} (${severity}) ${body}`,
        );
        return { says: lines.join("\n") || "There are no review comments.", data: { comments } };
      },
    }),
    workspaceTool({
      name: "get_review_comment_stats",
      description: "How many review comments there are for each file.",
      input: z.object({}),
      run: async () => {
        const counts = new Map<string, number>();
        for (const { file } of await all()) counts.set(file, (counts.get(file) ?? 0) + 1);
        const files = [...counts].map(([file, count]) => ({ file, count }));
        const lines = files.map(({ file, count }) => `${file}: ${count}`);
        return { says: lines.join("\n") || "There are no review comments.", data: { files } };
      },
    }),
  ];
}
