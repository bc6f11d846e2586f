import type { LostCard, LostFacts } from "../../../src/report/lost-facts.js";
import { day, endOfRun, named, sampleId } from "./sample-documents.js";

const old = "nightly@20261113T020000456Z";
const account = sampleId(900);

function restoreCommand(id: string): string {
  return `kbdump restore ${old} --against nightly --chunk ${id}`;
}

const cards: readonly LostCard[] = [
  {
    ...named(0),
    level: "chunk",
    loss: "undone",
    id: sampleId(701),
    position: 17,
    edit: "edited",
    by: account,
    at: endOfRun - 12 * day,
    content: [
      { kind: "same", text: "A customer can return an item within ", cut: 0 },
      { kind: "removed", text: "30", cut: 0 },
      { kind: "added", text: "14", cut: 0 },
      { kind: "same", text: " days of delivery. ", cut: 0 },
      { kind: "removed", text: "In December the period is 60 days. ", cut: 0 },
      { kind: "same", text: "The item must be unused and in its … we refund the price within five days.", cut: 214 },
    ],
    answer: [],
    command: restoreCommand(sampleId(701)),
    has_evidence: true,
    reason: null,
  },
  {
    ...named(12),
    level: "chunk",
    loss: "removed",
    id: sampleId(702),
    position: 143,
    edit: "added",
    by: account,
    at: endOfRun - 30 * day,
    content: [
      {
        kind: "removed",
        text: "لا تُقبل طلبات الاسترداد بعد مرور ثلاثين يومًا على تاريخ الشراء إلا بموافقة خطية من المدير المالي.",
        cut: 0,
      },
    ],
    answer: [],
    command: restoreCommand(sampleId(702)),
    has_evidence: true,
    reason: null,
  },
  {
    ...named(29),
    level: "chunk",
    loss: "undone",
    id: sampleId(703),
    position: 4,
    edit: "edited",
    by: null,
    at: endOfRun - 9 * day,
    content: [{ kind: "same", text: "设备无法开机怎么办？", cut: 0 }],
    answer: [
      { kind: "same", text: "请先检查电源线，", cut: 0 },
      { kind: "removed", text: "然后按住复位键十秒", cut: 0 },
      { kind: "added", text: "然后联系客服", cut: 0 },
      { kind: "same", text: "。", cut: 0 },
    ],
    command: restoreCommand(sampleId(703)),
    has_evidence: false,
    reason: "The chunk stands in the new text with other words, and nothing shows which of both is the newer one.",
  },
  {
    ...named(3),
    level: "chunk",
    loss: "enabled",
    id: sampleId(704),
    position: 88,
    edit: "disabled",
    by: account,
    at: endOfRun - 80 * day,
    content: [],
    answer: [],
    command: restoreCommand(sampleId(704)),
    has_evidence: true,
    reason: null,
  },
  {
    ...named(20),
    level: "child_chunk",
    loss: "removed",
    id: sampleId(705),
    position: 2,
    edit: "customized",
    by: null,
    at: endOfRun - 21 * day,
    content: [{ kind: "removed", text: "安装前请阅读第二章的安全须知。", cut: 0 }],
    answer: [],
    command: restoreCommand(sampleId(705)),
    has_evidence: true,
    reason: null,
  },
  {
    ...named(8),
    level: "chunk",
    loss: "removed",
    id: sampleId(706),
    position: 55,
    edit: null,
    by: null,
    at: null,
    content: [{ kind: "removed", text: "Logistics reports that the second dock stays closed until Monday.", cut: 0 }],
    answer: [],
    command: null,
    has_evidence: false,
    reason: "Nothing shows that a person wrote this row: the service made it from the document.",
  },
];

/** Seven lost rows of three documents that were indexed anew, five of them made by hand. */
export function sampleLost(): LostFacts {
  return {
    old: { job: "nightly", run_id: "20261113T020000456Z", finished_at: endOfRun - 7 * day },
    reindexed: 6,
    not_compared: 0,
    gone: 0,
    lost: 7,
    lost_by_hand: 5,
    documents: {
      rows: [0, 12, 29, 3, 20, 8].map((at, nth) => ({
        ...named(at),
        state: "different",
        reindexed: true,
        added: 14 - nth * 2,
        removed: 9 - nth,
        changed: nth * 3,
        moved: nth * 11,
        lost: nth === 5 ? 2 : 1,
        lost_by_hand: nth === 5 ? 0 : 1,
      })),
      total: 6,
      query: null,
    },
    cards,
    left_out: 1,
    query: `kbdump diff ${old} nightly@20261120T020000123Z`,
    restore: {
      command: `kbdump restore ${old} --against nightly`,
      apply: `kbdump restore ${old} --apply`,
      rows: 4,
      reason: null,
    },
    warnings: ["One document was not read whole in this run, so it is not compared."],
    warning_count: 1,
  };
}
