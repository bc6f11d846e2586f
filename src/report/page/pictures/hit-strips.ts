import type { DocumentHits, HitFacts } from "../../history-facts.js";
import { shareText } from "../cells.js";
import { type Html, type HtmlValue, html } from "../html.js";
import { renderFigure } from "./figure.js";
import { mostPictureRows, type PictureRow, renderRows, shortName, shownText } from "./rows.js";
import { hundredths } from "./svg.js";

const height = 24;
const [top, base] = [2, 22];

/**
 * Each document from its beginning to its end in places: the higher a place is filled, the more of its chunks were never retrieved. The
 * height says it, so that no shade must be compared; a place without chunks stays blank.
 */
export function renderHitStrips({ documents }: HitFacts, finding: HtmlValue): HtmlValue {
  const shown = documents.rows.filter(({ never }) => never > 0).slice(0, mostPictureRows);
  if (shown.length === 0) return "";
  const rows: PictureRow[] = shown.map((document) => ({
    name: shortName(document),
    marks: renderPlaces(document.places),
    value: `${shareText(document.never, document.enabled)} never`,
  }));
  return renderFigure(
    {
      id: "hit-strips",
      finding,
      hint: html`Every strip is a document in ${shown[0]?.places.length ?? 0} places from its beginning to its end. The higher a place is filled, the more of its chunks were never retrieved; a place without chunks is blank.${shownText(shown.length, documents.total, "those with the most chunks that were never retrieved")}`,
      keys: [
        { fill: { mark: "place" }, text: "retrieved" },
        { fill: { mark: "never" }, text: "never retrieved" },
      ],
    },
    renderRows(
      rows,
      [
        { place: 0, label: "beginning" },
        { place: 100, label: "end" },
      ],
      height,
    ),
  );
}

/** Two paths instead of two marks for every place: a page has many of them. One unit of the drawing is one place. */
function renderPlaces(places: DocumentHits["places"]): Html {
  const filled = places.map(({ enabled, never }) => (enabled > 0 ? Math.min(1, never / enabled) : null));
  const all = filled.map((share, at) => (share === null ? "" : boxPath(at, 1)));
  const never = filled.map((share, at) => (share ? boxPath(at, share) : ""));
  return html`<svg viewBox="0 0 ${Math.max(places.length, 1)} ${height}" preserveAspectRatio="none" width="100%" height="${height}"><path class="place" d="${all.join("")}"/><path class="never" d="${never.join("")}"/></svg>`;
}

/** A box on the base line, whose height is the share of the whole. */
function boxPath(at: number, share: number): string {
  const high = hundredths((base - top) * share);
  return `M${hundredths(at + 0.04)} ${base}h.92v-${high}h-.92z`;
}
