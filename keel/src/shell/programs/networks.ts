/** Programs that may send or receive over a network, name lookups included. */
import { own } from "../../kernel/json.ts";

const always = new Set(
  "curl wget ssh scp sftp nc ncat netcat telnet ftp tftp ping ping6 traceroute tracepath mtr dig nslookup host whois gh glab hub aws gcloud gsutil az kubectl helm xdg-open open socat nmap lynx w3m links elinks http https xh aria2c yt-dlp rclone s3cmd vercel netlify heroku fly flyctl doctl terraform ansible ansible-playbook mosh rdesktop ssh-copy-id ssh-keyscan sendmail mail mutt redis-cli mongo mongosh snap flatpak rustup nvm fnm asdf getent arp arping ntpdate chronyc tcpdump wscat websocat ngrok cloudflared smbclient showmount mount.nfs svn hg bzr cvs twine poetry-publish sshfs lftp axel httpie wireshark tshark".split(
    " ",
  ),
);

/** Programs that use a network with these words only. */
const sometimes: Readonly<Record<string, RegExp>> = {
  git: /^(?:fetch|pull|push|clone|ls-remote|lfs|send-email|svn|p4|fetch-pack|send-pack|http-fetch|http-push|daemon|request-pull|imap-send)$/,
  npm: /^(?:install|i|in|ins|ci|add|update|up|upgrade|publish|unpublish|audit|outdated|view|info|show|search|login|logout|adduser|whoami|ping|dist-tag|deprecate|owner|access|token|profile|star|exec|x|create|init|doctor|fund|link|install-test|it|clean-install)$/,
  npx: /^(?!--version$).+/,
  yarn: /^(?:install|add|upgrade|up|publish|audit|outdated|info|login|dlx|create|npm|global)$/,
  pnpm: /^(?:install|i|add|update|up|publish|audit|outdated|dlx|create|fetch|login)$/,
  bun: /^(?:install|i|add|update|publish|outdated|x|create|upgrade)$/,
  bunx: /./,
  deno: /^(?:install|add|cache|publish|upgrade)$/,
  pip: /^(?:install|download|wheel|index|search)$/,
  pip3: /^(?:install|download|wheel|index|search)$/,
  uv: /^(?:pip|add|sync|lock|tool|run|python|publish)$/,
  uvx: /./,
  pipx: /^(?:install|run|upgrade)$/,
  poetry: /^(?:install|add|update|lock|publish|search)$/,
  conda: /^(?:install|create|update|search)$/,
  gem: /^(?:install|update|push|fetch|search|outdated)$/,
  bundle: /^(?:install|update|add|outdated)$/,
  composer: /^(?:install|update|require|create-project|global|outdated|search)$/,
  cargo: /^(?:install|publish|fetch|update|add|search|login|build|b|test|t|run|r|check|c|bench|doc|clippy)$/,
  go: /^(?:get|install|mod|build|test|run|vet|generate|list|download)$/,
  mvn: /./,
  gradle: /./,
  docker: /^(?:pull|push|login|logout|build|run|search|buildx|compose|create|manifest|scout)$/,
  podman: /^(?:pull|push|login|logout|build|run|search|create)$/,
  "docker-compose": /^(?:pull|push|up|build|run)$/,
  apt: /^(?:install|update|upgrade|full-upgrade|dist-upgrade|download|source|build-dep)$/,
  "apt-get": /^(?:install|update|upgrade|dist-upgrade|download|source|build-dep)$/,
  yum: /^(?:install|update|upgrade|makecache|search)$/,
  dnf: /^(?:install|update|upgrade|makecache|search)$/,
  apk: /^(?:add|update|upgrade|fetch)$/,
  pacman: /^-S/,
  brew: /^(?:install|update|upgrade|fetch|tap|search)$/,
  openssl: /^(?:s_client|s_server|s_time|ocsp)$/,
  make: /^(?!)/,
};

const offline =
  /^(?:--offline|-o|-mod=vendor|-mod=mod|--frozen|--locked-offline|--prefer-offline-only|--network=none|--version|-V|version)$/;

export function usesNetwork(program: string, words: readonly string[]): boolean {
  if (always.has(program))
    return !words.some((word) => /^(?:--version|-V|--help)$/.test(word)) || words.length > 1;
  switch (program) {
    case "python":
    case "python3":
      return words.some(
        (word, at) =>
          word === "-m" &&
          /^(?:http\.server|pip|smtpd|urllib|ensurepip|webbrowser)$/.test(words[at + 1] ?? ""),
      );
    case "rsync":
      return words.some((word) => /^[^/-][^/]*:/.test(word) || word.startsWith("rsync://"));
    case "hostname":
      return words.some((word) => /^-[fdiIAy]|^--(?:fqdn|domain|ip-address|all)/.test(word));
    case "php":
      return words.includes("-S");
  }
  const pattern = own(sometimes, program);
  if (!pattern) return false;
  const operands = words.filter((word) => !word.startsWith("-"));
  const [first = ""] = operands;
  if (program === "git" && usesRemote(first, operands, words)) return true;
  if (/^(?:cargo|go|mvn|gradle)$/.test(program) && words.some((word) => offline.test(word))) return false;
  return words.some((word) => (word === first || word.startsWith("-S")) && pattern.test(word));
}

function usesRemote(first: string, operands: readonly string[], words: readonly string[]): boolean {
  if (first === "remote")
    return (
      /^(?:show|update|prune)$/.test(operands[1] ?? "") || (operands[1] === "add" && words.includes("-f"))
    );
  if (first === "submodule") return /^(?:update|add)$/.test(operands[1] ?? "");
  if (first === "archive") return words.some((word) => word.startsWith("--remote"));
  return first === "bundle-uri";
}

/** A redirection that bash turns into a connection. */
export const isSocketPath = (text: string): boolean => /^\/dev\/(?:tcp|udp)\//.test(text);
