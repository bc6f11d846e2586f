import type { Listed } from "../../../src/client/check-answer.js";

import type { DocumentRef, KnowledgeApi } from "../../../src/client/knowledge-api.js";
import type * as limiting from "../../../src/client/limit-requests.js";
import type * as send from "../../../src/client/retry.js";
import type * as childLists from "../../../src/crawl/child-lists.js";

import type * as crawlDocument from "../../../src/crawl/crawl-document.js";
import type * as readAnchored from "../../../src/crawl/read-anchored.js";
import type * as sweepList from "../../../src/crawl/sweep-list.js";
import { RetryError } from "../../../src/errors.js";
import type * as sweepDocument from "../../../src/segments/sweep-document.js";

/** A rule of the program that can be broken. */
export type Rule =
  | "sweep"
  | "sweep of documents"
  | "no-cache"
  | "ranks"
  | "rising positions"
  | "settled"
  | "containment"
  | "unreadable rows"
  | "tries"
  | "refusals"
  | "asked pauses"
  | "silence"
  | "single page";

/** The currently broken rule; undefined: none. */
export const broken: { rule: Rule | undefined } = { rule: undefined };

/** Skips the second reading of documents. */
export function withoutSweeps(actual: typeof sweepDocument): typeof sweepDocument {
  return {
    ...actual,
    sweepsOf: async (...args) => (broken.rule === "sweep" ? [] : actual.sweepsOf(...args)),
  };
}

/** Reads the list of documents only once. */
export function withoutSweepOfDocuments(actual: typeof sweepList): typeof sweepList {
  return {
    ...actual,
    sweepList: async (list, ...rest) => {
      if (broken.rule !== "sweep of documents" || list.name !== "documents") await actual.sweepList(list, ...rest);
    },
  };
}

/** Skips one check of the order: that rows keep their ranks, that positions rise, or that nothing was added recently. */
export function withoutProofOfOrder(actual: typeof readAnchored): typeof readAnchored {
  return {
    ...actual,
    readAnchored: (reading) => {
      if (broken.rule === "settled") return settledAnyway(actual.readAnchored(reading));
      if (broken.rule === "ranks") return actual.readAnchored(withKnownRanks(reading));
      return broken.rule === "rising positions" ? risingAnyway(actual, reading) : actual.readAnchored(reading);
    },
  };
}

async function* settledAnyway(
  pages: ReturnType<(typeof readAnchored)["readAnchored"]>,
): ReturnType<(typeof readAnchored)["readAnchored"]> {
  for await (const page of pages) yield { ...page, isSettled: true };
}

type Reading = Parameters<typeof readAnchored.readAnchored>[0];

/** Answers requests for single rows from pages already read, so that ranks always match. */
function withKnownRanks(reading: Reading): Reading {
  const rows = new Map<number, Listed>();
  let size = 0;
  return {
    ...reading,
    readPage: async (page) => {
      const read = await reading.readPage(page);
      if (page === 1) size = read.rows.length;
      for (const [at, row] of read.rows.entries()) rows.set((page - 1) * size + at + 1, row);
      return read;
    },
    readRow: async (rank) => ({ ...(await reading.readRow(rank)), row: rows.get(rank) }),
  };
}

/** Replaces positions with rising numbers during the reading, and restores them in the output. */
async function* risingAnyway(
  actual: typeof readAnchored,
  reading: Reading,
): ReturnType<(typeof readAnchored)["readAnchored"]> {
  const original = new Map<Listed, Listed>();
  const places = new Map<string, number>();
  const placed = (row: Listed, place: number): Listed => {
    const same = { ...row, position: place };
    original.set(same, row);
    return same;
  };
  const pages = actual.readAnchored({
    ...reading,
    readPage: async (page) => {
      const read = await reading.readPage(page);
      const rows = read.rows.map((row, at) => placed(row, page * 1_000 + at));
      for (const { id, position } of rows) places.set(id, Number(position));
      return { ...read, rows };
    },
    readRow: async (rank) => {
      const { row, total } = await reading.readRow(rank);
      return { row: row && { ...row, position: places.get(row.id) }, total };
    },
  });
  for await (const page of pages) yield { ...page, rows: page.rows.map((row) => original.get(row) ?? row) };
}

/** Accepts the children that a chunk embeds if their number matches the list, without comparing them. */
export function withoutContainment(actual: typeof childLists): typeof childLists {
  return {
    ...actual,
    readChildList: (list, embedded, reading) => {
      const isLong = list.first.rows.length < list.first.total && embedded?.length === list.first.total;
      if (broken.rule !== "containment" || !embedded || !isLong) return actual.readChildList(list, embedded, reading);
      return allOf(embedded);
    },
  };
}

async function* allOf(rows: readonly Listed[]): ReturnType<(typeof childLists)["readChildList"]> {
  yield { rows, from: "embedded", all: rows.length };
}

/** Skips unreadable rows without reporting them. */
export function withoutUnreadable(actual: typeof crawlDocument): typeof crawlDocument {
  class Silent extends actual.DocumentCrawl {
    constructor(api: KnowledgeApi, document: DocumentRef, options: crawlDocument.CrawlOptions) {
      const problem: typeof options.problem = (text, kind) => {
        if (broken.rule !== "unreadable rows" || kind !== "unreadable") options.problem(text, kind);
      };
      super(api, document, { ...options, problem });
    }
  }
  return { ...actual, DocumentCrawl: Silent };
}

/** Tries a request once too often, or does not count a try if the service asks for a pause, does not answer, or resets one page. */
export function withMoreTries(actual: typeof send): typeof send {
  return {
    ...actual,
    retrying: (read, options) => {
      const retries = broken.rule === "tries" ? options.retries + 1 : options.retries;
      const waitForService = async (error: unknown) =>
        isFree(error) || ((await options.waitForService?.(error)) ?? false);
      return actual.retrying(read, { ...options, retries, waitForService });
    },
  };
}

function isFree(error: unknown): boolean {
  if (!(error instanceof RetryError)) return false;
  if (broken.rule === "asked pauses") return error.retryAfter !== undefined;
  if (broken.rule === "single page") return error.trouble === "gone";
  return broken.rule === "silence" && error.status === undefined && error.trouble === undefined;
}

/** How often to repeat a refused request: more often than one try allows. */
const tooOften = 10;

/** Repeats a refused request too often in one try. */
export function withMoreRefusals(actual: typeof limiting): typeof limiting {
  return {
    ...actual,
    limitRequests: (sendOne, options) => {
      const once = actual.limitRequests(sendOne, options);
      return async (request) => {
        for (let times = 1; ; times++) {
          const answer = await once(request);
          if (broken.rule !== "refusals" || times === tooOften || !options.refusal(answer)) return answer;
        }
      };
    },
  };
}
