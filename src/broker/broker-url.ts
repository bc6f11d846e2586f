import { UsageError } from "../errors.js";

/** The address of a broker without its password, as messages name it: `redis://host:6379/0`. */
export function shownBroker(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** The rule for addresses of brokers that a text breaks; undefined where it is such an address. */
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

/** Checks the address of a broker. UsageError, which does not repeat it, because it may hold a password. */
export function requireBrokerUrl(text: string): void {
  const rule = brokenBrokerRule(text);
  if (rule !== undefined)
    throw new UsageError(`this is no address of a broker: expected redis://host:6379; ${rule}`, []);
}
