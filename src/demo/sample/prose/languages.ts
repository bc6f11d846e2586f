import { arabic } from "./arabic.js";
import { chinese } from "./chinese.js";
import { english } from "./english.js";
import { french } from "./french.js";
import { german } from "./german.js";
import { hebrew } from "./hebrew.js";
import { hindi } from "./hindi.js";
import { japanese } from "./japanese.js";
import type { Language } from "./language.js";
import { russian } from "./russian.js";
import { spanish } from "./spanish.js";

/** Every language that the sample data is written in. */
export const languages: readonly Language[] = [
  english,
  german,
  french,
  spanish,
  japanese,
  chinese,
  arabic,
  hebrew,
  hindi,
  russian,
];
