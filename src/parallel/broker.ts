import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { Redis, RedisOptions } from "ioredis";
import { StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import type { Log } from "../log.js";
import { blankControls, cutText } from "../safe-text.js";

const libraryNames = "bullmq ioredis";
const require = createRequire(import.meta.url);

/**
 * Loads the libraries that only runs with workers need. kbdump does not include them, because few users need them. `import` would
 * take 100 ms longer. Throws UsageError if they are not installed.
 */
function loadLibraries() {
  try {
    const { Redis }: typeof import("ioredis") = require("ioredis");
    const bullmq: typeof import("bullmq") = require("bullmq");
    return { bullmq, Redis };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")) throw error;
    throw new UsageError(
      `Workers need ${libraryNames}, which are not all installed. Run npm install ${libraryNames} in the folder where you installed kbdump; after npm install --global kbdump, run npm install --global ${libraryNames}`,
      [],
    );
  }
}

/** `commandTimeout`: milliseconds after which a command without an answer fails. */
type ConnectOptions = Pick<RedisOptions, "enableOfflineQueue" | "commandTimeout">;

/** The Redis or Valkey that hands out documents to workers. A run does not rely on its data, which may be wrong or lost at any time. */
export type Broker = Awaited<ReturnType<typeof openBroker>>;

/** Maximum milliseconds between two tries to reconnect. */
const longestWait = 1_000;
/** Milliseconds that a closed connection waits for the other side. */
const disconnectTimeout = 100;

const patient = {
  disconnectTimeout,
  maxRetriesPerRequest: null,
  retryStrategy: (tries: number) => Math.min(50 * 2 ** Math.min(tries, 8), longestWait),
};

/**
 * Opens a broker, and checks that it answers within `patience` milliseconds. Throws UsageError for an invalid address or a missing
 * library; StopError if the broker does not answer.
 */
export async function openBroker(url: string, patience = 5_000) {
  const rule = brokenBrokerRule(url);
  // The error does not repeat the address, because it may contain a password.
  if (rule !== undefined)
    throw new UsageError(`this is not an address of a broker: expected redis://host:6379; ${rule}`, []);
  const libraries = loadLibraries();
  const shown = shownBroker(url);
  // Has no cause, because errors of ioredis contain the command, and with it the password.
  const unusable = (error: unknown) =>
    new StopError(`the broker ${shown} cannot be used: ${brokerProblem(error, url)}`);
  const hasty = { lazyConnect: true, disconnectTimeout, maxRetriesPerRequest: 0, retryStrategy: () => null };
  await requireAnswer(new libraries.Redis(url, hasty), patience).catch((error: unknown) => {
    throw unusable(error);
  });
  const connections = new Set<Redis>();
  const keep = (connection: Redis): Redis => {
    const duplicate = connection.duplicate.bind(connection);
    connection.on("error", () => {}); // it reconnects
    connection.duplicate = (options) => keep(duplicate(options)); // BullMQ duplicates connections; these must end with the others
    connections.add(connection);
    return connection;
  };
  return {
    /** Its address without a password. */
    shown,
    libraries,
    /**
     * Opens another connection. It reconnects until `close` ends it, and its commands wait for the connection, unless the options
     * say otherwise.
     */
    connect: (options: ConnectOptions = {}) => keep(new libraries.Redis(url, { ...patient, ...options })),
    /** The error for a broker that cannot be used, without secrets from its address. */
    unusable,
    close: () => {
      for (const connection of connections) connection.disconnect();
    },
  };
}

async function requireAnswer(connection: Redis, patience: number): Promise<void> {
  let reason: unknown;
  connection.on("error", (error) => {
    reason ??= error;
    connection.disconnect(); // rejects pending commands
  });
  try {
    const answer = connection.connect().then(() => connection.ping());
    await inTime(answer, patience);
    if (reason !== undefined) throw reason;
  } catch (error) {
    throw reason ?? error;
  } finally {
    connection.disconnect();
  }
}

/** The address of a broker without its password, for messages: `redis://host:6379/0`. */
export function shownBroker(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** The rule that a broker address breaks; undefined for a valid address. */
export function brokenBrokerRule(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!/^rediss?:\/\//i.test(text)) return "it begins with redis://, or rediss:// for TLS";
  if (!url) return "its host or port cannot be read; in a user or password, write / # ? and @ as %2F %23 %3F and %40";
  if (url.hostname === "") return "it names no host";
  if (!/^\/?\d*$/.test(url.pathname)) return "after the host and port comes the number of a database, or nothing";
  if (!isDecodable(url.username) || !isDecodable(url.password)) return "in a user or password, write % as %25";
  return url.search === "" && url.hash === "" ? undefined : "it ends with the host or the number of a database";
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const startIt = "Start Redis or Valkey there, or correct the address";
const longestReason = 300;

/** Patterns of error messages, with the reason and what to do next; the first match is used. Sources: Node's codes and Redis replies. */
const known: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, `nothing listens there. ${startIt}`],
  [/ENOTFOUND|EAI_AGAIN/, "this name of a host is not known. Correct the address"],
  [
    /ETIMEDOUT|no answer within|EHOSTUNREACH|ENETUNREACH/,
    `no answer. ${startIt}, and check that no firewall is between`,
  ],
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
  [/RESP type|Command queue state/, `the server there is neither Redis nor Valkey. ${startIt}`],
  [/ECONNRESET|Connection is closed/, `it closes the connection without an answer. ${startIt}`],
];

/** Why a broker cannot be used, and what to do next, in one line without secrets from its address. */
function brokerProblem(error: unknown, url: string): string {
  const text = error instanceof Error && "code" in error ? `${error.code} ${problemText(error)}` : problemText(error);
  const advice = known.find(([pattern]) => pattern.test(text))?.[1];
  if (/ETIMEDOUT|no answer within/.test(text) && url.startsWith("rediss:"))
    return `${advice}; if no TLS is spoken there, write redis://`;
  return advice ?? `${cutText(blankControls(withoutSecrets(problemText(error), url)), longestReason)}. ${startIt}`;
}

/** Removes names and passwords, because brokers repeat commands in their errors. */
function withoutSecrets(text: string, url: string): string {
  const { username, password } = new URL(url);
  const secrets = [username, password].flatMap((secret) => [secret, decodeURIComponent(secret)]);
  return secrets.filter((secret) => secret !== "").reduce((clean, secret) => clean.replaceAll(secret, "…"), text);
}

/** Milliseconds until a broker counts as gone: the library waits forever if there never was a connection. */
const longestAnswer = 6_000;

/** Errors that only mean that there is no answer. */
const silence = /^(no answer|Command timed out|Stream isn't writeable|Connection is closed)/;

/**
 * Returns a function that asks the broker to do some work, and returns whether it did. It does not throw, because its callers ask again.
 * Logs once when the broker is gone, and when it is back. `signal` ends every wait.
 */
export function watchBroker({ shown }: Pick<Broker, "shown">, log: Log, signal: AbortSignal) {
  let isGone = false;
  return async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await inTime(work(), longestAnswer, signal);
      if (isGone) log("info", `the broker ${shown} is back: documents are handed out again`);
      isGone = false;
    } catch (error) {
      if (signal.aborted) return false;
      const text = problemText(error);
      const reason = silence.test(text) ? "does not answer" : `refuses a command (${text})`;
      if (!isGone) log("warn", `the broker ${shown} ${reason}: no document is handed out until it is back`);
      isGone = true;
    }
    return !isGone;
  };
}

/** Milliseconds for a last command to a broker that may be gone: several of them must fit in the time that an interrupted process has. */
const longestLast = 1_500;

/** Waits a short time for a command of the broker, and ignores failures. */
export async function atMost(command: Promise<unknown>): Promise<void> {
  await inTime(command, longestLast).catch(() => {});
}

/** Waits for a command. Rejects if there is no answer within this many milliseconds, and as soon as the signal is aborted. */
async function inTime(command: Promise<unknown>, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const ends = new AbortController();
  const late = delay(milliseconds, undefined, { signal: AbortSignal.any([ends.signal, ...(signal ? [signal] : [])]) });
  const noAnswer = late.then(() => Promise.reject(new Error(`no answer within ${milliseconds / 1_000} s`)));
  await Promise.race([command, noAnswer]).finally(() => ends.abort());
}
