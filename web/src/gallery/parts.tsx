/** The smallest parts of the page beside one another: buttons, signs and icons. */
import type { ReactElement, ReactNode } from "react";
import { Button, IconButton } from "../kit/button.tsx";
import { Icon } from "../kit/icon.tsx";
import { Sign, type SignKind } from "../kit/sign.tsx";

export const Sheet = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactElement => (
  <main className="gallery" id="main">
    <h1>{title}</h1>
    {children}
  </main>
);

const signs: readonly SignKind[] = ["active", "asking", "failed", "done", "idle", "waiting", "denied"];

export const Parts = (): ReactElement => (
  <Sheet title="Parts">
    <section className="sample row">
      <Button look="main" hint="⏎">
        Allow once
      </Button>
      <Button hint="A">Allow npm test here</Button>
      <Button look="plain" icon="undo">
        Rewind
      </Button>
      <Button look="danger">Delete</Button>
      <Button disabled>Not now</Button>
      <IconButton icon="settings" label="Settings" />
      <span className="count">3</span>
      <span className="count asks">2</span>
    </section>
    <section className="sample row">
      {signs.map((kind) => (
        <span key={kind} className="named">
          <Sign kind={kind} /> {kind}
        </span>
      ))}
    </section>
    <section className="sample row">
      {(
        [
          "agent",
          "terminal",
          "diff",
          "file",
          "folder",
          "branch",
          "clock",
          "image",
          "inbox",
          "link",
          "list",
          "phone",
          "archive",
          "edit",
          "trash",
          "warning",
          "question",
          "send",
          "stop",
          "undo",
          "panel",
          "menu",
          "more",
          "copy",
        ] as const
      ).map((name) => (
        <Icon key={name} name={name} />
      ))}
    </section>
  </Sheet>
);
