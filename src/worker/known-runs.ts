import type { Exchange } from "../exchange/exchange.js";
import type { Job } from "../job/job.js";
import { documentsOf, type PlacedDocument } from "../run/discover/discovery.js";
import { documentListFromText } from "../run/discover/document-list.js";
import { discoveryFrom } from "../run/discover/given-list.js";
import { type ExchangePlan, listFile, listHash, readPlan } from "../run/workers/exchange-files.js";

/** A run that hands out documents, as the worker finds it in the output. */
export interface KnownRun {
  readonly plan: ExchangePlan;
  /** The documents of the run by the names of their parts. */
  readonly documents: ReadonlyMap<string, PlacedDocument>;
}

/** Reads the lists of runs: that of the present run stays in memory, for as long as its plan has its hash. */
export class KnownRuns {
  readonly #job: Job;
  #hash: string | undefined;
  #documents: ReadonlyMap<string, PlacedDocument> = new Map();

  constructor(job: Job) {
    this.#job = job;
  }

  /** The run of an exchange; undefined where it is over, or is not in the output of this worker. */
  async of(exchange: Exchange): Promise<KnownRun | undefined> {
    const plan = await readPlan(exchange);
    if (!plan) return undefined;
    if (this.#hash !== plan.list_sha256) {
      const list = await exchange.read(listFile);
      if (list === undefined || listHash(list) !== plan.list_sha256) return undefined;
      this.#documents = this.#documentsOf(list);
      this.#hash = plan.list_sha256;
    }
    return { plan, documents: this.#documents };
  }

  #documentsOf(text: string): ReadonlyMap<string, PlacedDocument> {
    const { value } = { value: undefined, ...documentListFromText(text) };
    if (!value) return new Map();
    const discovery = discoveryFrom({ ...value, rows: [], drift: {}, pages: 0 }, this.#job);
    return new Map(documentsOf(discovery).map((document) => [document.name, document]));
  }
}
