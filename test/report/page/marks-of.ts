/** A bar of a drawing: places in percent of its width, heights in pixels. */
export interface Mark {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  /** The class, or the id of the hatch. */
  readonly fill: string;
}

/** The bars of some markup, in order. */
export function marksOf(markup: string): readonly Mark[] {
  const rect =
    /<rect x="([\d.]+)%" y="([\d.]+)" width="([\d.]+)%" height="([\d.]+)" class="([\w-]+)"(?: fill="url\(#([\w-]+)\)")?/g;
  return [...markup.matchAll(rect)].map(([, x, y, width, height, mark = "", hatch]) => ({
    x: Number(x),
    width: Number(width),
    y: Number(y),
    height: Number(height),
    fill: hatch ?? mark,
  }));
}

/** The rows of a picture, without its scale: markup. */
export function rowsOf(markup: string): readonly string[] {
  return markup.split('<div class="row">').slice(1);
}

/** The name of each row, without markup. */
export function namesOf(markup: string): readonly string[] {
  return [...markup.matchAll(/<span class="name">(.*?)<\/span>/g)].map(([, name = ""]) => textOf(name));
}

/** The words of some markup. */
export function textOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
