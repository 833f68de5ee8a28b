// What tests mean by "fast-check" (vitest.config.ts): the library, with the seed of this run. A property that looks
// elsewhere in every run would fail for somebody who changed nothing; the long command looks elsewhere.
import fc from "../../node_modules/fast-check/lib/fast-check.js";
import { seed } from "./budget.ts";

fc.configureGlobal({ seed: seed() });

// biome-ignore lint/style/noDefaultExport: the library has one, and stands in its place here
export default fc;
