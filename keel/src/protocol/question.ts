/** Questions to a person with answers to pick from, and the answers: what an ask of the kind `question` is about. */
import * as z from "zod/mini";

const words = (says: string, most: number) =>
  z.string().check(z.minLength(1), z.maxLength(most), z.describe(says));

export const questionSchema = z.object({
  question: words("The complete question.", 1_000),
  header: words("A heading of one or two words.", 40),
  options: z
    .array(
      z.object({
        label: words("The choice, in a few words.", 100),
        description: words("What choosing it means.", 1_000),
        preview: z.exactOptional(
          z.string().check(z.maxLength(10_000), z.describe("A preview to compare, such as a code snippet.")),
        ),
      }),
    )
    .check(z.minLength(2), z.maxLength(4), z.describe("2 to 4; the user can always type another answer.")),
  multiSelect: z._default(z.boolean(), false).check(z.describe("Whether several can be chosen.")),
});
export type Question = z.infer<typeof questionSchema>;

export const questionsSchema = z.object({
  questions: z.array(questionSchema).check(z.minLength(1), z.maxLength(4), z.describe("1 to 4 questions.")),
});

/** By the question: the label that was picked, several of them, or the person's own words. */
export const answersSchema = z.object({
  answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});
export type Answers = z.infer<typeof answersSchema>["answers"];
