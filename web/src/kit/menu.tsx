/** A button that opens a list of things to do or to choose from. It floats above everything and closes by itself. */
import { type KeyboardEvent, type ReactElement, type ReactNode, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icon.tsx";

export type MenuItem = {
  readonly label: string;
  readonly icon?: IconName | undefined;
  readonly more?: string | undefined;
  /** Of a list to choose from. */
  readonly isChosen?: boolean | undefined;
  readonly onPick: () => void;
};

type MenuButtonProps = {
  readonly label: string;
  /** Or what makes them when the list is opened. */
  readonly items: readonly MenuItem[] | (() => readonly MenuItem[]);
  /** A picture alone, or the words beside it. */
  readonly icon?: IconName | undefined;
  readonly children?: ReactNode;
  readonly isDisabled?: boolean | undefined;
};

export function MenuButton({
  label,
  items,
  icon,
  children,
  isDisabled = false,
}: MenuButtonProps): ReactElement {
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  // A page has hundreds of these buttons: their lists are drawn when they are opened.
  const [isOpen, setOpen] = useState(false);
  const place = (): void => {
    const [from, list] = [button.current?.getBoundingClientRect(), menu.current];
    if (!from || !list) return;
    const { width, height } = list.getBoundingClientRect();
    const left = Math.max(8, Math.min(from.left, window.innerWidth - width - 8));
    const isBelow = from.bottom + height + 4 < window.innerHeight || from.top < height;
    list.style.left = `${left}px`;
    list.style.top = `${isBelow ? from.bottom + 4 : from.top - height - 4}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button plain${children === undefined ? " icon-only" : ""}`}
        aria-label={children === undefined ? label : undefined}
        title={label}
        aria-haspopup="menu"
        disabled={isDisabled}
        popoverTarget={id}
      >
        {icon && <Icon name={icon} />}
        {children}
      </button>
      <div
        ref={menu}
        id={id}
        className="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        onBeforeToggle={({ newState }) => newState === "open" && setOpen(true)}
        onToggle={({ newState }) => {
          if (newState !== "open") return setOpen(false);
          place();
          const first = menu.current?.querySelector<HTMLElement>('[aria-checked="true"], button');
          first?.focus();
        }}
        onKeyDown={(event) => moveFocus(event, menu.current)}
      >
        {isOpen &&
          (typeof items === "function" ? items() : items).map(
            ({ label: says, icon: picture, more, isChosen, onPick }) => (
              // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it has one only where the role does
              <button
                key={says}
                type="button"
                role={isChosen === undefined ? "menuitem" : "menuitemradio"}
                aria-checked={isChosen}
                onClick={() => {
                  menu.current?.hidePopover();
                  onPick();
                }}
              >
                {isChosen !== undefined && (isChosen ? <Icon name="check" /> : <span className="sign" />)}
                {picture && <Icon name={picture} />}
                <span>{says}</span>
                {more !== undefined && <span className="more">{more}</span>}
              </button>
            ),
          )}
      </div>
    </>
  );
}

export function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !list) return;
  event.preventDefault();
  const items = [...list.querySelectorAll<HTMLElement>("button:not(:disabled)")];
  const now = items.indexOf(document.activeElement as HTMLElement);
  items[(now + step + items.length) % items.length]?.focus();
}
