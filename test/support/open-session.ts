// A session in a home of its own, for tests that need nothing else of the home.
import { openHome } from "../../keel/src/app/home.ts";
import type { OpenSession } from "../../keel/src/app/open-session.ts";
import type { OpenOptions } from "../../keel/src/app/options.ts";

export const openSession = (options: OpenOptions): Promise<OpenSession> => openHome(options).open(options);
