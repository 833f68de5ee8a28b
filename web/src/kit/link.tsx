/** A link within the page: a real address that can be opened in a new tab, and no reload. */
import type { AnchorHTMLAttributes, MouseEvent, ReactElement, ReactNode } from "react";
import { useNavigation } from "../live/navigation.ts";
import { pathOf, type Route } from "../route.ts";

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> & {
  readonly to: Route;
  readonly children: ReactNode;
};

export function Link({ to, children, onClick, ...rest }: LinkProps): ReactElement {
  const { go } = useNavigation();
  return (
    <a
      href={pathOf(to)}
      onClick={(event: MouseEvent<HTMLAnchorElement>) => {
        onClick?.(event);
        if (event.defaultPrevented || event.button !== 0) return;
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(to);
      }}
      {...rest}
    >
      {children}
    </a>
  );
}
