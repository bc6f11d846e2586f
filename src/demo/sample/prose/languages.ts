import { arabic } from "./arabic.js";
import { chinese } from "./chinese.js";
import { english } from "./english.js";
import type { Language } from "./language.js";

/**
 * The languages of the chunks in turn: most are English, and so are all that were edited by hand, so that a reader can judge
 * what a re-index takes. Chinese and Arabic stand for texts without spaces and from right to left.
 */
export const languages: readonly Language[] = [english, english, chinese, english, arabic];
