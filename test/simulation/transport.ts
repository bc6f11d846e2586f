import { failedRequest } from "../../src/client/failed-request.js";
import type { Environment, HttpOptions } from "../../src/client/open-client.js";
import { type Answer, targetOf } from "../../src/client/retry.js";
import { integer, type Random } from "../servers/random.js";
import { Absence } from "./absence.js";
import type { Calls } from "./calls.js";
import type { SimulatedClock } from "./clock.js";
import { forever, type Life } from "./life.js";
import { Manners } from "./manners.js";
import type { Scenario } from "./scenario.js";
import { shortId } from "./service/ids.js";
import type { Reply } from "./service/reply.js";
import type { SimulatedService } from "./service/service.js";

/** The network of one process. */
export interface NetworkParts {
  readonly scenario: Scenario;
  readonly clock: SimulatedClock;
  readonly life: Life;
  readonly service: SimulatedService;
  readonly calls: Calls;
  readonly random: Random;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
  /** Called when the client does something forbidden. */
  readonly violated: (text: string) => void;
}

const origin = "http://kb.example/v1";

/** Replaces `openHttp`. Every request has a latency in both directions, or never returns. */
export function simulatedHttp(segments: NetworkParts): Environment["openHttp"] {
  const { life, calls, report, clock } = segments;
  const manners = new Manners(segments);
  const absence = new Absence();
  return (options) => ({
    close: async () => {},
    send: async (request) => {
      options.signal.throwIfAborted();
      if (!life.step()) return forever();
      options.signal.throwIfAborted(); // this step may have caused the interruption
      const target = targetOf(request);
      const call = calls.sent(request, life.number, segments.service.moment);
      const id = `${life.number}/${call.number} ${shortOf(target)}`;
      const { isOutage } = absence;
      report(`${id} >`);
      manners.sent(clock.now, target);
      try {
        const { answer, reply } = await exchange(segments, target, options);
        report(`${id} < ${answer.status} ${reply.outcome} moment ${reply.moment}`);
        call.seen = reply.moment;
        calls.ended(call, absence.answered(call, answer));
        if (reply.isUsable) calls.answered(call, reply.moment, answer);
        manners.answered(clock.now, answer);
        return answer;
      } catch (error) {
        calls.ended(call, absence.unanswered(call, error, isOutage));
        report(`${id} ! ${error instanceof Error ? error.message.replace(/^GET \S+ /, "") : error}`);
        throw error;
      } finally {
        manners.done();
      }
    },
  });
}

/** Sends a request and returns its answer. Rejects with the same errors as `openHttp`. */
async function exchange(
  { clock, life, service, scenario, random, headers }: NetworkParts,
  target: string,
  { signal, timeout, onBytes }: HttpOptions,
): Promise<{ answer: Answer; reply: Reply }> {
  const [low, high] = scenario.service.latency;
  const wait = (milliseconds: number) => clock.sleep(milliseconds, life, signal);
  const [there, back] = [low + random() * (high - low), low + random() * (high - low)];
  await wait(there);
  const [path = "", query = ""] = target.split("?");
  const reply = service.arrive(`/v1${path}`, query, headers, clock.now);
  const { wire } = reply;
  const url = origin + target;
  const left = timeout * 1_000 - there;
  if (wire.kind === "hang" || (wire.kind === "answer" && wire.slow + back >= left)) {
    await wait(left);
    throw failedRequest(new Error(`no complete answer within ${timeout} s`), url);
  }
  if (wire.kind === "reset") {
    await wait(back);
    throw failedRequest(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }), url);
  }
  await wait(wire.slow + back);
  onBytes(wire.bytes.length);
  return { reply, answer: { url, status: wire.status, headers: wire.headers, body: wire.bytes } };
}

/** `d2 c7 page 1 of 100`: a target, without the parts that are the same in every line. */
function shortOf(target: string): string {
  const match = /(\d{6})\/segments(?:\/(\S+)\/child_chunks)?\?page=(\d+)&limit=(\d+)$/.exec(target);
  if (!match) return target;
  const [, document, chunk, page, limit] = match;
  const list = [`document ${Number(document)}`, chunk && shortId(chunk)];
  return [...list, `page ${page}`, limit === "100" ? "" : `of ${limit}`].filter(Boolean).join(" ");
}

/** Simulates a turn of the event loop between two bodies. */
export function simulatedTurn(clock: SimulatedClock, life: Life, random: Random): Environment["turn"] {
  return async (_bytes, work) => {
    await clock.sleep(integer(random, 0, 2), life);
    return work();
  };
}
