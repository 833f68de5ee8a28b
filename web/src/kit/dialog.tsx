/** A dialog of the browser: focus stays in it, Escape closes it, and focus goes back to where it was. */
import { type ReactElement, type ReactNode, useEffect, useId, useRef } from "react";
import { words } from "../words.ts";
import { IconButton } from "./button.tsx";

type DialogProps = { readonly title: string; readonly onClose: () => void; readonly children: ReactNode };

export function Dialog({ title, onClose, children }: DialogProps): ReactElement {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    // What is to be filled in, or loses nothing, before what closes it.
    dialog
      ?.querySelector<HTMLElement>(
        ".body :is(input, textarea, select):not([type=hidden]), .body [data-first]",
      )
      ?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // A click beside it closes it; Escape does the same for keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <dialog
      ref={ref}
      className="dialog"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <IconButton icon="close" label={words.close} onClick={onClose} />
      </header>
      <div className="body">{children}</div>
    </dialog>
  );
}
