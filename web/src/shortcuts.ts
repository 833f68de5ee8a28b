/** The keys of the page. Those with a letter alone count only where nobody writes. */
import { useEffect } from "react";

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
/** As it is written on the keyboard. */
export const modKey = isApple ? "⌘" : "Ctrl";

export type Shortcut = {
  /** `k`, `Escape`, `ArrowDown`. */
  readonly key: string;
  readonly mod?: boolean | undefined;
  readonly run: () => void;
};

export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return;
      const isMod = isApple ? event.metaKey : event.ctrlKey;
      const found = shortcuts.find(
        ({ key, mod = false }) => key.toLowerCase() === event.key.toLowerCase() && mod === isMod,
      );
      if (!found || (!found.mod && isWriting(event.target))) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [shortcuts]);
}

export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest("input, textarea, select, [contenteditable], .xterm") !== null;
