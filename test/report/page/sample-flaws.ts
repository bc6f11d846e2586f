import type { FlawFacts } from "../../../src/report/report-facts.js";
import { day, drawn, endOfRun, named, sampleId } from "./sample-documents.js";
import { sampleQuery } from "./sample-state.js";

/** Some of every flaw. */
export function sampleFlaws(): FlawFacts {
  const place = (at: number) => ({ ...named(at), id: sampleId(5000 + at), position: 1 + drawn(at, 300) });
  return {
    duplicates: {
      rows: Array.from({ length: 14 }, (_, at) => ({
        copies: 22 - at,
        documents: 1 + (at % 4),
        answers: at === 2 ? 2 : at % 5 === 0 ? 1 : 0,
        characters: (21 - at) * (120 + at * 9),
        first: place(at),
        beginning:
          [
            "This page is intentionally left blank.",
            "免责声明：本手册内容如有更改，恕不另行通知。",
            "جميع الحقوق محفوظة",
          ][at % 3] ?? null,
      })),
      total: 31,
      query: sampleQuery,
    },
    copies: { chunks: 187, characters: 31_412 },
    orphans: {
      rows: [
        { ...place(21), segment_id: sampleId(601), beginning: "第二步：将电源线连接到设备背面的接口。" },
        { ...place(6), segment_id: sampleId(602), beginning: null },
      ],
      total: 2,
      query: null,
    },
    errors: {
      rows: Array.from({ length: 6 }, (_, at) => ({
        ...place(28 + (at % 2)),
        id: sampleId(650 + at),
        status: "error",
        error:
          at === 5
            ? null
            : "[openai] Rate limit reached for text-embedding-3-large (limit 1,000,000 tokens per minute)",
      })),
      total: 6,
      query: null,
    },
    disabled: {
      rows: Array.from({ length: 9 }, (_, at) => ({
        ...place(at * 3),
        disabled_at: at === 4 ? null : endOfRun - (3 + drawn(at, 200)) * day,
        disabled_by: at % 3 === 0 ? null : sampleId(900 + at),
        beginning: at === 8 ? null : "Prices of 2024, valid until 31 December 2024. The list of 2025 replaces them.",
      })),
      total: 9,
      query: null,
    },
  };
}
