import type { Reply } from "./reply.js";

type Headers = Readonly<Record<string, string>>;

/** A cache between client and service. It repeats an answer of any age, unless the request asks for a fresh one. */
export class Cache {
  readonly #isThere: boolean;
  readonly #known = new Map<string, Reply>();

  constructor(isThere: boolean) {
    this.#isThere = isThere;
  }

  /** The reply to a request, from the cache or the service. `now`: the current moment of the service. */
  reply(target: string, headers: Headers, now: () => number, ask: () => Reply): Reply {
    if (!this.#isThere) return ask();
    const known = isNewWanted(headers) ? undefined : this.#known.get(target);
    if (known) return { ...known, moment: now(), outcome: `from a cache, of moment ${known.moment}` };
    const reply = ask();
    if (reply.isUsable) this.#known.set(target, reply);
    return reply;
  }
}

function isNewWanted(headers: Headers): boolean {
  return /\bno-(cache|store)\b|\bmax-age=0\b/.test(headers["cache-control"] ?? "");
}
