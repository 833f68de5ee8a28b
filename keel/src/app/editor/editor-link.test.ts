import { afterEach, expect, test } from "vitest";
import { fault } from "../../kernel/fault.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { EditorLink, type EditorState } from "./editor-link.ts";

const open: EditorLink[] = [];
afterEach(() => {
  for (const link of open.splice(0)) link.close();
});

test("an editor that does not come is looked for with growing pauses, from two seconds to two minutes, for ten minutes", async () => {
  const clock = fakeClock();
  const tries: number[] = [];
  const states: EditorState[] = [];
  const link = new EditorLink({
    async find() {
      tries.push(clock.monotonicMs() / 1_000);
      throw fault("link_lost", { reason: "nobody is there" });
    },
    clock,
    draw: () => 0,
    version: "0",
    onState: (state) => void states.push(state),
    onMention: () => undefined,
  });
  open.push(link);
  await link.tried;
  for (let step = 0; step < 1_000; step++) await clock.advance(1_000);
  const [first = 0] = tries;
  expect(tries.map((at) => at - first)).toEqual([0, 2, 6, 14, 30, 62, 126, 246, 366, 486, 606]);
  expect(link.state).toEqual({ state: "given-up", reason: "nobody is there" });
  expect(clock.sleeping).toBe(0);
});
