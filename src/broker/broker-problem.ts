import { problemText } from "../file-error.js";
import { blankControls, cutText } from "../safe-text.js";

const startIt = "Start Redis or Valkey there, or correct the address";
const longestReason = 300;

/** Reasons by what an error says, and what to do next; the first that fits counts. Sources: Node's codes, and the replies of Redis. */
const known: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, `nobody listens there. ${startIt}`],
  [/ENOTFOUND|EAI_AGAIN/, "this name of a host is not known. Correct the address"],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/, `no answer. ${startIt}, and check that no firewall is between`],
  [
    /NOAUTH/,
    "it asks for a password. Write it into the address, redis://:PASSWORD@host:6379, best in an environment variable whose name you give in place of the address",
  ],
  [/WRONGPASS|invalid password/, "it refuses the user or the password of the address. Correct them"],
  [/DB index is out of range/, "it has no database of this number. Correct the end of the address"],
  [
    /NOPERM/,
    "its user may not do what workers need. Give the user all commands, on the keys and channels of the queue",
  ],
  [/LOADING/, "it still loads its data. Try again in a moment"],
  [/ERR_SSL|EPROTO|packet length|wrong version number/, "no TLS is spoken there. Write redis:// instead of rediss://"],
  [
    /certificate|CERT_/i,
    "its certificate is not trusted. Name the file of its certificate authority in NODE_EXTRA_CA_CERTS",
  ],
  [/RESP type|Command queue state/, `what answers there is no Redis and no Valkey. ${startIt}`],
  [/ECONNRESET|Connection is closed/, `it closes the connection without an answer. ${startIt}`],
];

/** Why a broker cannot be used, and what to do next, in one line without a secret of its address. */
export function brokerProblem(error: unknown, url: string): string {
  const text = error instanceof Error && "code" in error ? `${error.code} ${problemText(error)}` : problemText(error);
  const advice = known.find(([pattern]) => pattern.test(text))?.[1];
  if (/ETIMEDOUT/.test(text) && url.startsWith("rediss:"))
    return `${advice}; if no TLS is spoken there, write redis://`;
  return advice ?? `${cutText(blankControls(withoutSecrets(problemText(error), url)), longestReason)}. ${startIt}`;
}

/** Brokers repeat commands in their errors, and thereby names and passwords. */
function withoutSecrets(text: string, url: string): string {
  const { username, password } = new URL(url);
  const secrets = [username, password].flatMap((secret) => [secret, decodeURIComponent(secret)]);
  return secrets.filter((secret) => secret !== "").reduce((clean, secret) => clean.replaceAll(secret, "…"), text);
}
