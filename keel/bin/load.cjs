// Loads the bundle of the command with its code as it was compiled by an earlier run. Node's own cache keeps only what
// is compiled while a file is loaded; what runs before the first request is compiled later, and took half of the start.
"use strict";

const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const vm = require("node:vm");

// Beside the bundle, never in a shared temporary folder: whoever writes the cache chooses the code that runs.
const bundle = path.join(__dirname, "../dist/cli");
const kept = path.join(__dirname, "../dist/.compiled");
const START = "(function (exports, require, module, __filename, __dirname) {";
const END = "\n})";

/** What the bundle exports. */
exports.load = function load() {
  run("main.cjs");
  return require(path.join(bundle, "main.cjs"));
};

/** Runs the large file behind a small one, which then finds it loaded. */
function run(entry) {
  const [name] = /(answer|schemas)-[\w-]+\.cjs/.exec(fs.readFileSync(path.join(bundle, entry), "latin1"));
  const file = path.join(bundle, name);
  if (require.cache[file]) return;
  // The name tells the code apart, and the rest who may use it: V8 itself looks only at the length of the source.
  const cache = path.join(kept, `${name}-${process.version}-${process.arch}`);
  const cachedData = readIfThere(cache);
  const script = new vm.Script(readWrapped(file), {
    filename: file,
    columnOffset: -START.length,
    cachedData,
  });
  if (cachedData === undefined || script.cachedDataRejected) keepAtTheEnd(script, cache);
  const module = new Module(file, null);
  module.filename = file;
  module.paths = Module._nodeModulePaths(bundle);
  require.cache[file] = module;
  const find = Module.createRequire(file);
  const give = (wanted) => {
    if (wanted === "./schemas.cjs") run("schemas.cjs");
    return find(wanted);
  };
  script.runInThisContext().call(module.exports, module.exports, give, module, file, bundle);
  module.loaded = true;
}

/** As the one text that is compiled: put together from three, the engine would copy all of it once more. */
function readWrapped(file) {
  const descriptor = fs.openSync(file, "r");
  try {
    const { size } = fs.fstatSync(descriptor);
    const whole = Buffer.allocUnsafeSlow(START.length + size + END.length);
    const end = START.length + fs.readSync(descriptor, whole, START.length, size, null);
    whole.write(START, 0, "latin1");
    whole.write(END, end, "latin1");
    return whole.latin1Slice(0, end + END.length);
  } finally {
    fs.closeSync(descriptor);
  }
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Where it cannot be written, nothing is lost but time. */
function keepAtTheEnd(script, file) {
  // The first run decides which code is kept: one that only shows a text would leave out the rest for good.
  if (!["-p", "--print", "rehearse"].includes(process.argv[2])) return;
  process.on("exit", () => {
    const fresh = `${file}.${process.pid}`;
    try {
      fs.mkdirSync(kept, { recursive: true, mode: 0o700 });
      const descriptor = fs.openSync(fresh, "wx", 0o600);
      fs.writeSync(descriptor, script.createCachedData());
      fs.fsyncSync(descriptor);
      fs.closeSync(descriptor);
      fs.renameSync(fresh, file);
    } catch {
      removeIfOurs(fresh);
    }
  });
}

/** Who may not write there may not remove there either: installed by one user and used by another, nothing is to be said. */
function removeIfOurs(file) {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // It was never written.
  }
}
