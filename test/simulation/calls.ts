import { type Answer, type Request, targetOf } from "../../src/client/send.js";
import { type ListName, listOf } from "./service/list-name.js";

/**
 * How one request over the wire ended. refused: too many requests, without Retry-After. away: the service was gone, which costs
 * no try. other: anything else, or the process ended first.
 */
export type SendEnd = "refused" | "away" | "other";

/** A page of a list that the crawl wanted: all tries for it, one after the other. */
export interface Call {
  readonly number: number;
  readonly life: number;
  readonly list: ListName | undefined;
  readonly page: number;
  readonly limit: number;
  /** Path and query. */
  readonly target: string;
  /** When its first try was sent; in moments of the service, as all others. */
  readonly from: number;
  /** How each request over the wire ended, in order. */
  readonly ends: SendEnd[];
  /** When the newest answer to it was made, of whatever kind. */
  seen: number;
  /** When the answer was made that it was given in the end; undefined while there is none. */
  answered: number | undefined;
  /** The total of that answer. */
  total: number;
}

/** Every call of a simulation, in the order in which they were first sent. */
export class Calls {
  readonly all: Call[] = [];
  /** The client uses one object for all tries of one page. */
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

  /** The newest request of the call ended. */
  ended({ ends }: Call, end: SendEnd): void {
    ends[ends.length - 1] = end;
  }

  /** The call has an answer that can be used: no other will come. */
  answered(call: Call, moment: number, { body }: Answer): void {
    const end = Buffer.from(body.subarray(-200)).toString("latin1");
    call.answered = moment;
    call.total = Number(/"total":(\d+)/.exec(end)?.[1] ?? -1);
  }

  /** The calls of a list, in the order in which they were sent. */
  of({ document, chunk }: ListName): readonly Call[] {
    return this.ofDocument(document).filter(({ list }) => list?.chunk === chunk);
  }

  /** The calls of all lists of a document. */
  ofDocument(document: string): readonly Call[] {
    return this.all.filter(({ list }) => list?.document === document);
  }
}
