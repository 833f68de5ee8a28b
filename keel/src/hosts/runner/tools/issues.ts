/** Work items of another program: a small port, a provider over a file, and one for Linear. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { shorten } from "../../../kernel/text.ts";
import type { PostJson } from "../../../ports/hook-programs.ts";

const maxDescription = 20_000;

const issueSchema = z.object({
  id: z.string(),
  title: z.string(),
  description: z._default(z.string(), ""),
  status: z._default(z.string(), "unknown"),
  url: z.optional(z.string()),
});

/** A sentence where it cannot be told. */
export type FindIssue = (id: string, signal: AbortSignal) => Promise<z.infer<typeof issueSchema> | string>;

const fileSchema = z.object({ issues: z.array(issueSchema) });

/** `.keel/issues.json` of the working folder: for those who have no other place. */
export const issuesOfFile =
  (cwd: string): FindIssue =>
  async (id) => {
    const file = path.join(cwd, ".keel", "issues.json");
    try {
      const parsed = fileSchema.safeParse(JSON.parse(await readFile(file, "utf8")));
      if (!parsed.success) return `${file} does not hold issues.`;
      return parsed.data.issues.find((issue) => issue.id === id) ?? `There is no issue ${id} in ${file}.`;
    } catch {
      return `There is no ${file}, and no key for Linear in LINEAR_API_KEY.`;
    }
  };

const answerSchema = z.object({
  data: z.object({
    issue: z.nullable(
      z.object({
        identifier: z.string(),
        title: z.string(),
        description: z.nullish(z.string()),
        url: z.optional(z.string()),
        state: z.nullish(z.object({ name: z.string() })),
      }),
    ),
  }),
});

const question =
  "query Issue($id: String!) { issue(id: $id) { identifier title description url state { name } } }";
const maxBytes = 1_000_000;

export const issuesOfLinear =
  ({ url, key, post }: { url: string; key: string; post: PostJson }): FindIssue =>
  async (id, signal) => {
    try {
      const body = JSON.stringify({ query: question, variables: { id } });
      const answer = await post({ url, headers: { authorization: key }, body, maxBytes }, signal);
      if (answer.status !== 200) return `Linear answered with ${answer.status}.`;
      const parsed = answerSchema.safeParse(JSON.parse(answer.body));
      if (!parsed.success) return "Linear's answer could not be read.";
      const { issue } = parsed.data.data;
      if (!issue) return `Linear knows no issue ${id}.`;
      const { identifier, title, description, state } = issue;
      return {
        id: identifier,
        title,
        description: shorten(description ?? "", maxDescription),
        status: state?.name ?? "unknown",
        ...(issue.url === undefined ? {} : { url: issue.url }),
      };
    } catch (thrown) {
      return `Linear could not be asked: ${thrown instanceof Error ? shorten(thrown.message, 200) : "unknown"}.`;
    }
  };
