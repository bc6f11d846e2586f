import type { AnswerLog } from "./answer-log.js";
import type { DatasetListAnswer } from "./dataset-list.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { PageSize } from "./page-size.js";
import type { ServiceProbe } from "./probe-service.js";
import type { Positions } from "./ties.js";

/** Equal positions, as far as they were seen in one kind of list. */
export interface SeenTies extends Pick<Positions, "rows" | "collisions"> {
  /** Undefined where none were seen, or could be asked twice. */
  readonly hold: boolean | undefined;
}

/** Everything that was noticed while a service was asked. */
export interface Evidence {
  readonly chunkPages: PageSize;
  readonly childPages: PageSize;
  readonly answers: AnswerLog;
  readonly probe: ServiceProbe;
  readonly surveys: readonly DocumentSurvey[];
  /** Rows that were looked at for equal positions, and whether these come in the same order when asked twice. */
  readonly ties: Readonly<Record<"chunks" | "children", SeenTies>>;
  readonly datasetList: DatasetListAnswer;
  /** Datasets that have no list of metadata fields, as on older services. */
  readonly withoutFields: number;
  /** Requests that were refused as too many. */
  readonly throttled: number;
}
