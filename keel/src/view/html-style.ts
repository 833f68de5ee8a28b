/** The style of an exported page: light and dark, readable on paper, nothing loaded. */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fdfdfc; --quiet: #6b6b70; --line: #d9d9de; --block: #f2f2f0; --user: #eef4ff; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e8; --paper: #161618; --quiet: #9a9aa0; --line: #37373c; --block: #202024; --user: #1b2536; --good: #4ac26b; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 56rem; margin: 0 auto; padding: 1rem 1.25rem; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: .8rem; margin: 0 0 .25rem; color: var(--quiet); font-weight: 600; }
table { border-collapse: collapse; font-size: .875rem; }
th { text-align: left; color: var(--quiet); font-weight: 500; padding: .1rem 1rem .1rem 0; vertical-align: top; }
article { margin: 1rem 0; }
article.user { background: var(--user); border-radius: .5rem; padding: .75rem 1rem; }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
pre { background: var(--block); border-radius: .375rem; padding: .625rem .75rem; margin: .5rem 0; overflow-x: auto; font: .8125rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .75rem; }
summary { cursor: pointer; }
summary .state { color: var(--quiet); font-size: .875rem; margin-left: .5rem; }
.thinking { color: var(--quiet); }
.failed, .denied, .interrupted { color: var(--bad); }
.added { color: var(--good); }
.removed { color: var(--bad); }
.notice, .ask, .end, .compaction { color: var(--quiet); font-size: .875rem; }
.warning { color: var(--bad); }
.end { border-top: 1px solid var(--line); padding-top: .5rem; }
img { max-width: 100%; border-radius: .375rem; }
`;
