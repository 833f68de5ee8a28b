/** What is being written, by session: a reload, a crash or another tab loses none of it. */
import { useEffect, useState } from "react";
import { useWorld } from "../live/world.ts";

const keyOf = (session: string): string => `keel.draft.${session}`;

export function useDraft(session: string): readonly [text: string, setText: (text: string) => void] {
  const { notes } = useWorld();
  const key = keyOf(session);
  const [written, setWritten] = useState(() => ({ key, text: notes.getItem(key) ?? "" }));
  useEffect(() => {
    // Another tab writes in the same field: whoever wrote last is right.
    const listen = (event: StorageEvent): void => {
      if (event.key === key) setWritten({ key, text: event.newValue ?? "" });
    };
    window.addEventListener("storage", listen);
    return () => window.removeEventListener("storage", listen);
  }, [key]);
  const text = written.key === key ? written.text : (notes.getItem(key) ?? "");
  const setText = (next: string): void => {
    setWritten({ key, text: next });
    if (next === "") notes.removeItem(key);
    else notes.setItem(key, next);
  };
  return [text, setText];
}
