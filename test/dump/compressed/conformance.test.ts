import { describe } from "vitest";
import { fileFormats, formatOf } from "../../../src/dump/formats/formats.js";
import { compressions } from "../../zstd.js";
import { testFormat } from "../formats/conformance.js";

const texts = fileFormats.filter((format) => formatOf(format).isText);
const cases = texts.flatMap((format) => compressions.map((compression) => ({ format, compression })));

describe.each(cases)("the format $format with $compression", ({ format, compression }) => {
  testFormat(format, () => formatOf(format), compression);
});
