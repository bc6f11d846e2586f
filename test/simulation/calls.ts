import { type Answer, type Request, targetOf } from "../../src/client/retry.js";
import { type ListName, listOf } from "./service/list-name.js";

/**
 * How a request ended. refused: too many requests, without Retry-After. away: the service was down, which costs no try. other:
 * anything else, or the process ended first.
 */
export type SendEnd = "refused" | "away" | "other";

/** All tries for one page of a list. */
export interface Call {
  readonly number: number;
  readonly life: number;
  readonly list: ListName | undefined;
  readonly page: number;
  readonly limit: number;
  /** The path and query of its requests. */
  readonly target: string;
  /** The moment at which its first try was sent. Moments are not times: they count the answers and edits of the service. */
  readonly from: number;
  /** How each request ended, in order. */
  readonly ends: SendEnd[];
  /** The moment at which the service sent the newest answer to any of its tries. */
  seen: number;
  /** The moment at which the service sent the accepted answer; undefined while there is none. */
  answered: number | undefined;
  /** The `total` of the accepted answer. */
  total: number;
}

/** Every call of a simulation, ordered by first request. */
export class Calls {
  readonly all: Call[] = [];
  /** Finds the call of a request, because the client uses one request object for all tries of a page. */
  readonly #known = new WeakMap<Request, Call>();

  sent(request: Request, life: number, from: number): Call {
    const known = this.#known.get(request);
    if (known) {
      known.ends.push("other");
      return known;
    }
    const numberOf = (name: string) => Number(request.query.find(([key]) => key === name)?.[1] ?? 0);
    const call: Call = {
      number: this.all.length + 1,
      life,
      list: listOf(request.path),
      page: numberOf("page"),
      limit: numberOf("limit"),
      target: targetOf(request),
      from,
      ends: ["other"],
      seen: from,
      answered: undefined,
      total: 0,
    };
    this.#known.set(request, call);
    this.all.push(call);
    return call;
  }

  /** Records how the newest request of a call ended. */
  ended({ ends }: Call, end: SendEnd): void {
    ends[ends.length - 1] = end;
  }

  /** Records the accepted answer, which is the last one of its call. */
  answered(call: Call, moment: number, { body }: Answer): void {
    const end = Buffer.from(body.subarray(-200)).toString("latin1");
    call.answered = moment;
    call.total = Number(/"total":(\d+)/.exec(end)?.[1] ?? -1);
  }

  /** The calls for a list, in order of sending. */
  of({ document, chunk }: ListName): readonly Call[] {
    return this.ofDocument(document).filter(({ list }) => list?.chunk === chunk);
  }

  /** The calls for all lists of a document. */
  ofDocument(document: string): readonly Call[] {
    return this.all.filter(({ list }) => list?.document === document);
  }
}
