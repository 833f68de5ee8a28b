/**
 * A part of the page that is loaded when it is needed. Where that fails (the server is away, or is a newer one by now),
 * or where the part itself does, it says so in its place, and the rest of the page goes on.
 */
import { Component, type ReactNode, Suspense } from "react";
import { words } from "../words.ts";
import { Button } from "./button.tsx";

type LoadedProps = {
  readonly children: ReactNode;
  /** Shown until it is there. */
  readonly meanwhile?: ReactNode;
};

export class Loaded extends Component<LoadedProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    const { children, meanwhile } = this.props;
    if (!this.state.hasFailed) return <Suspense fallback={meanwhile}>{children}</Suspense>;
    return (
      <div className="state" role="alert">
        <p>{words.broken.says}</p>
        <Button onClick={() => location.reload()}>{words.broken.reload}</Button>
      </div>
    );
  }
}
