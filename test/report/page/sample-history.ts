import {
  type ChangeFacts,
  changedKinds,
  type HitFacts,
  positionsOfDocument,
} from "../../../src/report/report-facts.js";
import { day, documents, drawn, endOfRun, named, sampleId } from "./sample-documents.js";
import { sampleQuery } from "./sample-state.js";

/** Twelve nights: a first one, quiet ones, and one with a re-index. */
export function sampleChanges(): ChangeFacts {
  const runs = Array.from({ length: 12 }, (_, at) => {
    const started_at = endOfRun - (11 - at) * day - 461_000;
    const most = at === 9 ? 900 : at % 3 === 0 ? 4 : 60;
    const counts = Object.fromEntries(
      changedKinds.map((kind, nth) => [kind, drawn(at * 10 + nth, kind === "reindexed" && at !== 9 ? 0 : most)]),
    ) as Record<(typeof changedKinds)[number], number>;
    return {
      run_id: at === 11 ? "20261120T020000123Z" : `202611${String(9 + at).padStart(2, "0")}T020000123Z`,
      started_at,
      status: at === 4 || at === 11 ? "partial" : "complete",
      chunks: 6300 + at * 31,
      counts: at === 0 ? null : counts,
    };
  });
  return { runs, total: 15, query: sampleQuery, reason: null };
}

export function sampleHits(): HitFacts {
  const rows = documents
    .filter(({ chunks }) => chunks > 0)
    .map(({ chunks, ...document }, at) => {
      const places = Array.from({ length: positionsOfDocument }, (_, place) => {
        const enabled =
          Math.floor(((place + 1) * chunks) / positionsOfDocument) - Math.floor((place * chunks) / positionsOfDocument);
        const share = Math.min(1, (drawn(at, 10) / 10) * (0.3 + place / 14));
        return { enabled, never: Math.round(enabled * share) };
      });
      const never = places.reduce((sum, place) => sum + place.never, 0);
      return { ...document, enabled: chunks, never, hits: (chunks - never) * (1 + drawn(at, 9)), places };
    })
    .sort((a, b) => b.never - a.never);
  const sum = (figure: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + figure(row), 0);
  const texts = [
    "Spare part 4711-B, housing, black. Replaced by 4711-C since March 2024; see the list of replacements.",
    "如果设备在启动后三十秒内没有响应，请断开电源并联系技术支持。",
    "لا تُقبل طلبات الاسترداد بعد مرور ثلاثين يومًا على تاريخ الشراء إلا بموافقة خطية.",
  ];
  return {
    enabled: sum(({ enabled }) => enabled),
    never: sum(({ never }) => never),
    hits: sum(({ hits }) => hits),
    has_history: true,
    documents: { rows, total: rows.length, query: null },
    chunks: {
      rows: Array.from({ length: 24 }, (_, at) => ({
        ...named(10 + (at % 12)),
        id: sampleId(3000 + at),
        position: 1 + drawn(at, 400),
        characters: 1900 - at * 37,
        created_at: at === 7 ? null : endOfRun - (20 + drawn(at, 300)) * day,
        beginning: texts[at % texts.length] ?? null,
      })),
      total: sum(({ never }) => never),
      query: sampleQuery,
    },
  };
}
