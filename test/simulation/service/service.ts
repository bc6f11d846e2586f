import { type Answer, errorAnswer, faultyAnswer } from "../../servers/answer.js";
import type { Behaviour } from "../../servers/behaviour.js";
import type { Fault } from "../../servers/faults.js";
import type { Random } from "../../servers/random.js";
import { RateWindow, refusalAnswer } from "../../servers/rate-limit.js";
import { rightAnswer } from "../../servers/routes.js";
import { streamOf } from "../draw/stream.js";
import type { Scenario } from "../scenario.js";
import { isMoving } from "../scenario-facts.js";
import { bytesOf, isRecord } from "./body.js";
import { Cache } from "./cache.js";
import { Editing } from "./editing.js";
import { withEmbedded } from "./embedding.js";
import { FaultScript } from "./faults.js";
import { History } from "./history.js";
import { beginning, type Knowledge, knowledgeOf } from "./knowledge.js";
import { type ListName, listOf } from "./list-name.js";
import type { Reply } from "./reply.js";

interface Sent {
  readonly slow?: number;
  readonly fault?: Fault["kind"];
  readonly list?: ListName | undefined;
}

/** The simulated knowledge service. Edits happen between its answers, and some answers have faults. */
export class SimulatedService {
  readonly knowledge: Knowledge;
  readonly history = new History();
  /** The current moment: how many answers and edits there were so far. */
  moment = 0;
  /** Requests that arrived, and how many of them were refused because of the rate limit. */
  arrivals = 0;
  refusals = 0;
  readonly #scenario: Scenario;
  readonly #behaviour: Behaviour;
  readonly #faults: FaultScript;
  readonly #random: Random;
  readonly #cache: Cache;
  readonly #editing: Editing;
  readonly #window = new RateWindow();
  /** When the last request arrived, in milliseconds since the start. */
  #now = 0;

  constructor(scenario: Scenario, report: (line: string) => void) {
    this.#scenario = scenario;
    this.knowledge = knowledgeOf(scenario);
    const { latency, rateLimit, cache, clockAhead, ...rest } = scenario.service;
    this.#cache = new Cache(cache);
    this.#behaviour = { ...rest, documentError: new Map() };
    for (const [index, { refused }] of scenario.documents.entries()) if (refused) this.#refuse(index, refused);
    this.#faults = new FaultScript(scenario.faults, scenario.seed, streamOf(scenario.seed, "faults"));
    this.#random = streamOf(scenario.seed, "service");
    const { knowledge, history } = this;
    const now = () => Math.floor(beginning + this.#now / 1_000);
    this.#editing = new Editing(scenario, { knowledge, history, report, nextMoment: () => ++this.moment, now });
    for (const document of knowledge.documents) history.record(document, 0);
    history.recordDocuments(knowledge.dataset.documents.keys(), 0);
  }

  get lastArrival(): number {
    return this.#now;
  }

  /** Answers an arriving request, directly or from the cache. `path` starts with the API version. */
  arrive(path: string, query: string, headers: Readonly<Record<string, string>>, now: number): Reply {
    const moment = () => this.moment;
    return this.#cache.reply(`${path}?${query}`, headers, moment, () => this.#arriveItself(path, query, now));
  }

  #arriveItself(path: string, query: string, now: number): Reply {
    this.arrivals++;
    this.#now = now;
    const { rateLimit } = this.#scenario.service;
    const wait = rateLimit ? this.#window.arrive(rateLimit, now) : 0;
    if (rateLimit && wait > 0) {
      this.refusals++;
      return this.#sent(refusalAnswer(rateLimit, wait, now), "refused");
    }
    this.#editing.perhaps(`${path}?${query}`);
    this.moment++;
    if (this.arrivals >= (this.#scenario.faults.revokedAt ?? Number.POSITIVE_INFINITY)) {
      return this.#sent(errorAnswer(401, "unauthorized", "Access token is invalid"), "401");
    }
    const limit = Number(new URLSearchParams(query).get("limit") ?? 0);
    const list = listOf(path);
    const fault = this.#faults.next({ url: `${path}?${query}`, limit });
    const answer = (page?: string) => this.#answer(path, query, page);
    if (!fault) return this.#sent(answer(), "", { list });
    if (fault.kind === "slow") {
      return this.#sent(answer(), `slow ${fault.milliseconds}`, { slow: fault.milliseconds, list });
    }
    if (fault.kind === "hang") return this.#lost("hang");
    if (fault.kind === "reset-before" || fault.kind === "reset-mid-body") return this.#lost("reset");
    const wrong = faultyAnswer(fault, answer, () => answer("1"));
    const outcome = fault.kind === "status" ? `status ${fault.status}` : fault.kind;
    return this.#sent(wrong, outcome, { fault: fault.kind, list });
  }

  /** Makes this many edits while no process sends requests. */
  moveOn(edits: number): void {
    this.#editing.moveOn(edits);
  }

  #refuse(index: number, { status, code }: { status: number; code: string }): void {
    const id = this.knowledge.documents[index]?.id ?? "";
    this.#behaviour.documentError?.set(id, { status, body: { code, message: `no: ${code}`, status } });
  }

  #answer(path: string, query: string, page?: string): Answer {
    const asked = new URLSearchParams(query);
    if (page !== undefined) asked.set("page", page);
    const { store } = this.knowledge;
    const question = {
      store,
      behaviour: this.#behaviour,
      random: this.#random,
      batchReads: new Map(),
      path,
      query: asked,
    };
    const answer = rightAnswer(question, true);
    return this.#unrendered(answer) ?? this.#embedding(listOf(path), answer);
  }

  /** The error for a page with an unreadable row; undefined if all rows are readable. */
  #unrendered({ json }: Answer): Answer | undefined {
    const { unreadable } = this.knowledge;
    if (unreadable.size === 0 || !Array.isArray(json?.data)) return undefined;
    const bad = json.data.find((row) => isRecord(row) && unreadable.has(String(row.id)));
    const status = isRecord(bad) ? unreadable.get(String(bad.id)) : undefined;
    if (status === undefined) return undefined;
    return errorAnswer(
      status,
      status === 400 ? "invalid_param" : "internal_server_error",
      "year 20000 is out of range",
    );
  }

  /** Embeds children into a page of chunks if the document does that. */
  #embedding(list: ListName | undefined, answer: Answer): Answer {
    if (!list || list.chunk !== undefined) return answer;
    const document = this.knowledge.documents.find(({ id }) => id === list.document);
    const shape = this.knowledge.shapes.get(list.document);
    if (!document || !shape) return answer;
    const [first] = this.history.versionsOf(document.id);
    const children = (shape.embedsOld && first?.children) || document.children;
    return withEmbedded(answer, children, shape, (chunk) => this.#markOf({ document: document.id, chunk }));
  }

  /**
   * The moment to write into the rows of an answer, if the data can change: that of the answer. With `auto`, children come in two
   * answers that must agree, so theirs is the moment of the last change of their list.
   */
  #markOf(list: ListName | undefined): number | undefined {
    if (!isMoving(this.#scenario)) return undefined;
    const isTwofold = this.#scenario.job.childChunks === "auto" && list?.chunk !== undefined;
    return isTwofold ? (this.history.since(list) ?? this.moment) : this.moment;
  }

  #lost(kind: "hang" | "reset"): Reply {
    return { moment: this.moment, outcome: kind, isUsable: false, wire: { kind } };
  }

  #sent(answer: Answer, outcome: string, { slow = 0, fault, list }: Sent = {}): Reply {
    const { status, headers = {} } = answer;
    const { clockAhead = 0 } = this.#scenario.service;
    const date = new Date((beginning + clockAhead) * 1_000 + this.#now).toUTCString();
    const bytes = bytesOf(answer, this.#markOf(list), fault);
    const isPage = fault === undefined || fault === "empty-page" || fault === "repeated-page";
    const isSpared = fault === "missing-id" && Array.isArray(answer.json?.data) && answer.json.data.length === 0;
    const isUsable = status === 200 && (isPage || isSpared);
    return {
      moment: this.moment,
      outcome,
      isUsable,
      wire: { kind: "answer", slow, status, headers: { date, ...headers }, bytes },
    };
  }
}
