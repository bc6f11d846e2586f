import type { Evidence } from "./evidence.js";
import type { Quirk } from "./quirk.js";

/** Seconds of difference that mean nothing: the header has whole ones, and an answer takes its time. */
const clockTolerance = 2;

/** The service as such: what it knows, what it lets the key do, and how it answers. */
export function serviceQuirks(evidence: Evidence): readonly Quirk[] {
  return [
    childLists(evidence),
    metadataFields(evidence),
    datasetList(evidence),
    compression(evidence),
    clock(evidence),
    throttling(evidence),
  ];
}

function childLists({ surveys, answers }: Evidence): Quirk {
  const name = "child_lists";
  const { answers: lists } = answers.of("child_list");
  const refused = surveys.find(({ total, error }) => total !== null && error !== null);
  if (lists > 0) return { name, finding: "present", detail: `${lists} were asked`, meaning: "", trouble: false };
  if (!refused)
    return {
      name,
      finding: "unknown",
      detail: "no chunk was there to ask for its children",
      meaning: "",
      trouble: false,
    };
  const meaning = "documents fail unless the job says child_chunks: none";
  return { name, finding: "absent", detail: refused.error ?? "", meaning, trouble: true };
}

function metadataFields({ withoutFields }: Evidence): Quirk {
  const name = "metadata_fields";
  if (withoutFields === 0) return { name, finding: "present", detail: "", meaning: "", trouble: false };
  const detail = `${withoutFields} datasets have no such list`;
  return {
    name,
    finding: "absent",
    detail,
    meaning: "the table metadata_fields stays empty; all else is read",
    trouble: false,
  };
}

function datasetList({ datasetList: answer }: Evidence): Quirk {
  const name = "dataset_list";
  const meanings = {
    allowed: "the key sees every dataset of its account, and can be used for documents: all",
    refused: "the key is bound to a dataset, or may not list: name the ids of datasets in the job",
    absent: "the service has no such list: name the ids of datasets in the job",
    unknown: "",
  };
  const { finding, detail } = answer;
  return { name, finding, detail, meaning: meanings[finding], trouble: false };
}

function compression({ answers: { encodings } }: Evidence): Quirk {
  const name = "compression";
  const used = [...encodings.keys()].filter((encoding) => encoding !== "identity");
  const [first] = used;
  if (first === undefined) {
    const meaning = "gzip in the service, or in a proxy before it, would make the bytes received a fraction";
    return { name, finding: "none", detail: "no answer was compressed", meaning, trouble: false };
  }
  return {
    name,
    finding: first,
    detail: `answers came as ${used.join(", ")}`,
    meaning: "fewer bytes received",
    trouble: false,
  };
}

function clock({ answers: { clockAhead } }: Evidence): Quirk {
  const name = "clock";
  if (clockAhead === undefined) {
    return { name, finding: "unknown", detail: "the answers bear no date", meaning: "", trouble: false };
  }
  const seconds = Math.round(Math.abs(clockAhead));
  if (Math.abs(clockAhead) <= clockTolerance) {
    return { name, finding: "agrees", detail: `to within ${clockTolerance} s`, meaning: "", trouble: false };
  }
  const detail = `the service is ${seconds} s ${clockAhead > 0 ? "ahead of" : "behind"} this machine`;
  const meaning = "times of chunks and started_at, captured_at of kbdump are of two clocks";
  return { name, finding: "differs", detail, meaning, trouble: true };
}

function throttling({ throttled }: Evidence): Quirk {
  const name = "throttling";
  if (throttled === 0)
    return { name, finding: "none", detail: "no request of this plan was refused", meaning: "", trouble: false };
  const meaning =
    "a run pauses and slows down as this plan did: it takes longer than the forecast; set service.max_rps";
  return { name, finding: "seen", detail: `${throttled} requests were refused as too many`, meaning, trouble: true };
}
