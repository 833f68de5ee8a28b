/** The address of the page as a value that changes, and the way to change it. */
import { createContext, useContext } from "react";
import { pathOf, type Route, routeOf } from "../route.ts";
import { Cell, type Observable } from "./observable.ts";

export type Navigation = {
  readonly route: Observable<Route>;
  go(to: Route, how?: "push" | "replace"): void;
};

export function openNavigation(): Navigation & { close(): void } {
  const here = (): Route => routeOf(location.pathname, location.hash);
  const route = new Cell(here());
  const listen = (): void => route.set(here());
  window.addEventListener("popstate", listen);
  return {
    route,
    go(to, how = "push") {
      const path = pathOf(to);
      if (how === "replace") history.replaceState(null, "", path);
      else if (path !== location.pathname + location.hash) history.pushState(null, "", path);
      route.set(to);
    },
    close: () => window.removeEventListener("popstate", listen),
  };
}

export const NavigationContext = createContext<Navigation | undefined>(undefined);

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext);
  if (!navigation) throw new Error("outside of the page");
  return navigation;
}
