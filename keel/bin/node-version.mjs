// Imported by every entry of the library before the rest of it; kept to what old Nodes understand.
const needed = [22, 13];
const found = process.versions.node.split(".").map(Number);
const isOlder = found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1]);
if (isOlder) {
  const says = `keel: needs Node ${needed.join(".")} or newer, but runs on ${found.join(".")} (${process.execPath}).`;
  const error = new Error(says);
  // Where it was thrown tells nobody anything.
  error.stack = says;
  throw error;
}
