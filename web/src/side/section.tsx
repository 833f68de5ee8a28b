/** A part of what stands beside the conversation: a heading with a figure, and more on demand. */
import { type ReactElement, type ReactNode, useState } from "react";
import { Icon } from "../kit/icon.tsx";
import { useWorld } from "../live/world.ts";

type SideSectionProps = {
  readonly name: string;
  readonly title: string;
  /** What is said when it is folded. */
  readonly figure?: ReactNode;
  readonly startsOpen?: boolean;
  readonly children: ReactNode;
};

/** Whether it is open is remembered for all sessions. */
export function SideSection({
  name,
  title,
  figure,
  startsOpen = true,
  children,
}: SideSectionProps): ReactElement {
  const { notes } = useWorld();
  const key = `keel.side.${name}`;
  const [isOpen, setOpen] = useState(() => (notes.getItem(key) ?? (startsOpen ? "open" : "")) === "open");
  const toggle = (): void => {
    setOpen(!isOpen);
    notes.setItem(key, isOpen ? "folded" : "open");
  };
  return (
    <section className={`part part-${name}`}>
      <h2>
        <button type="button" aria-expanded={isOpen} onClick={toggle}>
          <Icon name="chevron" />
          <span>{title}</span>
          <span className="figure figures">{figure}</span>
        </button>
      </h2>
      {isOpen && <div className="inside">{children}</div>}
    </section>
  );
}
