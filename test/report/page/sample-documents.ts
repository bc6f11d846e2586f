import type { NamedDocument } from "../../../src/report/named-document.js";

/** The end of the sample run. */
export const endOfRun = Date.UTC(2026, 10, 20, 2, 7, 41);
export const hour = 3_600_000;
export const day = 24 * hour;

const support = { dataset_id: "7f0c9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f", dataset_name: "Customer support" };
const finance = { dataset_id: "31d4a2b8-0c6e-4f57-8b19-6e2f7a90c1d3", dataset_name: "الشؤون المالية" };
const manuals = { dataset_id: "c85b1f60-9e3d-4a72-a4f1-d07b3c5e8812", dataset_name: "产品手册" };

export const datasets = [support, finance, manuals];

const names: readonly (readonly [dataset: typeof support, name: string | null, chunks: number])[] = [
  [support, "Returns and refunds.md", 412],
  [support, "Warranty terms 2026.pdf", 388],
  [support, "Troubleshooting: no power.docx", 251],
  [support, "Shipping abroad.md", 198],
  [support, "Opening hours and holidays.csv", 64],
  [support, "Escalation to second level.md", 41],
  [support, "Frequently asked questions.xlsx", 530],
  [support, "Contact <form> & e-mail templates.html", 27],
  [
    support,
    "Minutes of the weekly meeting of the customer support team with the representatives of logistics, warehouse and finance, held in the large conference room on the third floor (final, corrected, second version) - copy (3).docx",
    119,
  ],
  [support, "release-notes_2026-11.md", 73],
  [support, "Spare parts.csv", 905],
  [support, null, 12],
  [finance, "سياسة استرداد المبالغ.pdf", 143],
  [finance, "دليل المحاسبة 2026.docx", 321],
  [finance, "أسئلة شائعة حول الفواتير", 88],
  [finance, "Invoices FAQ (EN) – الفواتير.md", 57],
  [finance, "Travel expenses.md", 36],
  [finance, "Annual report 2025.pdf", 610],
  [finance, "Cost centres.csv", 214],
  [finance, "Budget 2027 – draft.xlsx", 0],
  [manuals, "安装指南（第三版）.pdf", 276],
  [manuals, "故障排除手册.docx", 342],
  [manuals, "安全须知.md", 49],
  [manuals, "用户手册：高级功能与配置说明.pdf", 498],
  [manuals, "Datasheet KX-200.pdf", 95],
  [manuals, "Datasheet KX-210.pdf", 96],
  [manuals, "保修条款.md", 31],
  [manuals, "固件更新记录.txt", 166],
  [manuals, "Wiring diagrams.pdf", 18],
  [manuals, "常见问题.xlsx", 402],
];

export interface SampleDocument extends NamedDocument {
  readonly chunks: number;
}

/** Thirty documents of three datasets. */
export const documents: readonly SampleDocument[] = names.map(([dataset, document_name, chunks], at) => ({
  ...dataset,
  document_id: sampleId(at + 1),
  document_name,
  chunks,
}));

/** Documents that the sample run could not read whole, by their place in the list. */
export const failedAt = 17;
export const unstableAt = [6, 29];

/** A document of the list with its ids and names alone. */
export function named(at: number): NamedDocument {
  const { dataset_id, dataset_name, document_id, document_name } = documentAt(at);
  return { dataset_id, dataset_name, document_id, document_name };
}

export function documentAt(at: number): SampleDocument {
  const found = documents[at % documents.length];
  if (!found) throw new RangeError(`no document ${at}`);
  return found;
}

/** A UUID that is always the same for a number. */
export function sampleId(number: number): string {
  const digits = (salt: number) => (Math.imul(number + salt, 2654435761) >>> 0).toString(16).padStart(8, "0");
  const [a, b, c, d] = [digits(0), digits(77), digits(991), digits(4242)];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(0, 3)}-${c.slice(4)}${d}`;
}

/** A whole number from 0 to the most, always the same for a number. */
export function drawn(number: number, most: number): number {
  return (Math.imul(number + 13, 2246822519) >>> 8) % (most + 1);
}
