import { countText } from "../../amounts.js";
import type { LostFacts } from "../lost-facts.js";
import type { HitFacts, IndexingFacts, ReportFacts, VerdictFacts } from "../report-facts.js";
import { foreign, type HtmlValue, html } from "./html.js";
import { notIndexedOf, unreadText } from "./parts/indexing.js";
import { limitsOf } from "./parts/lost.js";
import { shareText, type Tone } from "./table.js";

/** The answer to one of the questions that the first screen answers. */
export interface Answer {
  /** The section that has the details; null where there is none. */
  readonly section: string | null;
  readonly question: string;
  readonly tone: Tone;
  /** The answer in a word or two. */
  readonly short: string;
  readonly text: HtmlValue;
}

export interface Answers {
  readonly complete: Answer;
  readonly lost: Answer;
  readonly stuck: Answer;
  readonly never: Answer;
}

export function answersOf({ verdict, lost, indexing, hits }: ReportFacts): Answers {
  return {
    complete: { section: "verdict", question: "Is the dump complete?", ...completeness(verdict) },
    lost: { section: lost ? "lost" : null, question: "What was lost by a re-index?", ...losses(lost) },
    stuck: { section: "indexing", question: "What is stuck?", ...stuck(indexing) },
    never: { section: "hits", question: "What is never found?", ...neverFound(hits) },
  };
}

type Finding = Pick<Answer, "tone" | "short" | "text">;

function completeness(facts: VerdictFacts): Finding {
  const { unstable, failed, complete } = facts.documents;
  const all = complete + unstable + failed;
  const filter =
    facts.filtered_datasets > 0 &&
    ` The job filters the chunks of ${countText(facts.filtered_datasets, "dataset")}: what the filter leaves out is not in the dump.`;
  if (facts.verification?.status === "differences") {
    const found = countText(facts.verification.finding_count, "difference");
    return {
      tone: "bad",
      short: "No, files differ",
      text: [`Reading the files again found ${found}. Do not rely on this dump.`, filter],
    };
  }
  if (facts.status === "complete" && all === 0) {
    const text = "Nothing failed, but the run found no document. Check that the job names the datasets that you mean.";
    return { tone: "warn", short: "Yes, but empty", text };
  }
  if (facts.status === "complete") {
    const rows = [countText(facts.chunks, "chunk"), countText(facts.child_chunks, "child chunk")];
    const held = listText([countText(all, "document"), ...rows]);
    const proof = facts.verification && " Reading its files again found no difference.";
    return {
      tone: "good",
      short: "Yes, complete",
      text: [
        `Everything that the job names was read whole: ${held}.`,
        childrenText(facts),
        proof,
        filter,
        warningText(facts),
      ],
    };
  }
  if (unstable + failed === 0) {
    const text =
      "Every document that was read is complete, but the run could not read everything that it was asked for.";
    return { tone: "warn", short: "No, partial", text: [text, filter] };
  }
  const reasons = [
    failed > 0 && `${failed} could not be read`,
    unstable > 0 && `${unstable} changed while ${unstable === 1 ? "it was" : "they were"} read, or could not be proved`,
  ];
  const missing = `${unstable + failed} of ${countText(all, "document")} ${unstable + failed === 1 ? "is" : "are"} not complete`;
  const others = complete > 0 && ` The other ${complete === 1 ? "one was" : `${complete} were`} read whole.`;
  const text = `${missing}: ${listText(reasons.filter((reason) => reason !== false))}.`;
  return { tone: "warn", short: "No, partial", text: [text, others, filter] };
}

function childrenText({ reads_children }: VerdictFacts): string {
  return reads_children ? "" : " The job leaves child chunks out.";
}

function warningText({ warning_count }: VerdictFacts): string {
  return warning_count > 0 ? ` The run has ${countText(warning_count, "warning")}.` : "";
}

function losses(facts: LostFacts | undefined): Finding {
  if (!facts) {
    const text = html`No older run was compared. Add <code class="word">--against</code> and an older run to <code>kbdump report</code> to see it.`;
    return { tone: "quiet", short: "Not compared", text };
  }
  const limits = limitsOf(facts);
  if (facts.lost === 0) {
    const isCertain = limits === null && facts.warning_count === 0;
    const what = facts.reindexed === 0 ? "No document was re-indexed" : "No row was lost";
    const compared = isCertain ? what : `As far as the runs can be compared, ${what.replace("No", "no")}`;
    const text = [`${compared} since the run of ${dayOf(facts.old.finished_at)}.`, limits];
    return isCertain ? { tone: "good", short: "Nothing", text } : { tone: "warn", short: "Nothing known", text };
  }
  const { lost, lost_by_hand } = facts;
  const manual =
    lost === 1
      ? `${lost_by_hand === 1 ? "" : "not "}made by hand`
      : `${lost_by_hand.toLocaleString("en-US")} of them made by hand`;
  const back = facts.restore.rows > 0 ? ` One command brings ${facts.restore.rows.toLocaleString("en-US")} back.` : "";
  const text = `The re-index of ${countText(facts.reindexed, "document")} took ${countText(facts.lost, "row")}, ${manual}.${back}`;
  const short = `${facts.lost.toLocaleString("en-US")} lost`;
  return { tone: facts.lost_by_hand > 0 ? "bad" : "warn", short, text: [text, limits] };
}

function stuck(facts: IndexingFacts): Finding {
  const { was_asked, unread_batches, listed, chunks } = facts;
  const { failed, open, text } = notIndexedOf(facts);
  if (failed > 0) return { tone: "bad", short: `${failed} failed${open > 0 ? `, ${open} open` : ""}`, text };
  if (open > 0) return { tone: "warn", short: `${open} not indexed`, text };
  if (listed.total > 0) {
    const text = `The service lists ${countText(listed.total, "document")} in another state than completed and available.`;
    return { tone: "warn", short: `${listed.total} not available`, text };
  }
  const failing = chunks.reduce((sum, state) => sum + state.chunks, 0);
  if (failing > 0)
    return {
      tone: "warn",
      short: countText(failing, "chunk"),
      text: `${countText(failing, "chunk")} ${failing === 1 ? "is" : "are"} not completed.`,
    };
  if (unread_batches > 0) {
    const text = `${unreadText(unread_batches)} Every document and chunk that was read is completed.`;
    return { tone: "warn", short: "Not all is known", text };
  }
  if (was_asked) return { tone: "good", short: "Nothing", text: "Every document of the job's batches is indexed." };
  return {
    tone: "quiet",
    short: "Nothing known",
    text: "Every document and chunk is completed. The job names no batches, so that no stage of the indexing was read.",
  };
}

function neverFound({ enabled, never, has_history, documents }: HitFacts): Finding {
  if (enabled === 0) {
    const text = "The dump has no enabled chunk for which the service counts how often it was retrieved.";
    return { tone: "quiet", short: "Nothing known", text };
  }
  if (never === enabled) {
    const text = has_history
      ? "No chunk was ever retrieved. The knowledge base may be new, or unused."
      : "No chunk counts a retrieval. The knowledge base may be new, just re-indexed, or unused.";
    return { tone: "warn", short: "All of it", text };
  }
  if (never === 0) return { tone: "good", short: "Nothing", text: "Every enabled chunk was retrieved at least once." };
  const [first] = documents.rows;
  const most = first?.document_name && html` ${foreign(first.document_name, 40)} has the most of them.`;
  const share = shareText(never, enabled);
  const verb = never === 1 ? "was" : "were";
  const text = html`${countText(never, "chunk")} of ${enabled.toLocaleString("en-US")} ${verb} never retrieved.${most}`;
  return { tone: 2 * never > enabled ? "warn" : "quiet", short: `${share} never found`, text };
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** `a, b and c`. */
function listText(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
