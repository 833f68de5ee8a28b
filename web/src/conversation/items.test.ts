import type { Row } from "keel/view";
import { expect, test } from "vitest";
import { itemsOf, noItems } from "./items.ts";

const paragraph = "Some **words** that a model writes, and a few more of them. ".repeat(4);
const text = Array.from({ length: 120 }, (_, index) =>
  index % 7 === 3 ? `\`\`\`ts\nconst a = ${index};\n\nconst b = 2;\n\`\`\`` : `${index}. ${paragraph}`,
).join("\n\n");

const replyOf = (said: string): Row => ({
  kind: "text",
  id: "reply",
  at: 0,
  text: said,
  live: true,
  requestId: "request",
});

test("a reply that grows piece by piece has the items that it has when it is whole", () => {
  let grown = noItems;
  for (let length = 10; length < text.length; length += 37)
    grown = itemsOf([replyOf(text.slice(0, length))], grown);
  grown = itemsOf([replyOf(text)], grown);
  const whole = itemsOf([replyOf(text)]);
  expect(grown.items.map(({ key, part }) => ({ key, part }))).toEqual(
    whole.items.map(({ key, part }) => ({ key, part })),
  );
  expect(whole.items.length).toBeGreaterThan(5);
  expect(whole.items.map(({ part }) => part?.text).join("")).toBe(text);
});

test("parts that stay as they are are the same values, so that nothing of them is drawn again", () => {
  const before = itemsOf([replyOf(text)]);
  const after = itemsOf([replyOf(`${text} And on.`)], before);
  const kept = before.items.slice(0, -1).map(({ part }) => part);
  expect(after.items.slice(0, kept.length).every(({ part }, index) => part === kept[index])).toBe(true);
});
