// The suite's servers call themselves localhost, which a bare machine does not know. Loaded with `--import`.
import dns from "node:dns";

const lookup = dns.lookup;
dns.lookup = (host, options, callback) => {
  const done = typeof options === "function" ? options : callback;
  if (host !== "localhost") return lookup(host, options, callback);
  const wantsAll = typeof options === "object" && options.all;
  const address = "127.0.0.1";
  process.nextTick(() => (wantsAll ? done(null, [{ address, family: 4 }]) : done(null, address, 4)));
};
