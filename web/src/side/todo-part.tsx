/** What the model has on its list. */
import type { ReactElement } from "react";
import { TodoItems } from "../displays/display-view.tsx";
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";
import { SideSection } from "./section.tsx";

export function TodoPart({ view }: { readonly view: SessionView }): ReactElement | null {
  const { todos } = view.standing;
  if (todos.length === 0) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  return (
    <SideSection name="todo" title={words.side.todo} figure={`${done} / ${todos.length}`}>
      <TodoItems
        items={todos.map(({ text, status, activeForm }) => ({
          text: status === "in_progress" ? (activeForm ?? text) : text,
          status,
        }))}
      />
    </SideSection>
  );
}
