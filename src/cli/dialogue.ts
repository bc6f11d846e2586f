import * as prompts from "@clack/prompts";
import { InterruptedError } from "../errors.js";
import { wrapToWidth } from "./display-width.js";
import { terminalText } from "./text.js";

/** An answer to choose from. */
export interface Choice<Value> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

/** A question with a text answer. */
export interface Question {
  readonly message: string;
  readonly example: string;
  /** The flag or variable that answers it without a terminal. */
  readonly flag: string;
  /** Whether to hide the answer while typing. */
  readonly isSecret?: boolean;
}

/** A question that is answered by choosing one of several answers. */
interface Selection<Value> {
  readonly message: string;
  /** The answers to choose from; the first is the default. */
  readonly choices: readonly Choice<Value>[];
}

/** A question that is answered by choosing at least one of several answers. */
interface MultiSelection<Value> extends Selection<Value> {
  readonly defaults: readonly Value[];
  readonly flag: string;
}

/** Asks questions. Every method rejects with InterruptedError if the user cancels. */
export interface Dialogue {
  /** Whether a wrong answer can be corrected. */
  readonly isInteractive: boolean;
  readonly say: (text: string) => void;
  /** Asks questions one by one, and returns the answers by flag. */
  readonly ask: (questions: readonly Question[]) => Promise<ReadonlyMap<string, string>>;
  readonly choose: <Value extends string>(selection: Selection<Value>) => Promise<Value>;
  readonly chooseMany: <Value extends string>(selection: MultiSelection<Value>) => Promise<readonly Value[]>;
}

/** The input and output of a terminal. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** The prefix that the prompt library prints on every line; our text must fit beside it. */
const guide = "│  ";
/** Maximum choices on screen. The user can search a longer list. */
const shownChoices = 10;
const longestLabel = 60;

/** A dialogue at a terminal. `cancelled` is shown when the user cancels, and says what was not done. */
export function openDialogue({ input, output }: Terminal, signal: AbortSignal, cancelled: string): Dialogue {
  const common = { input, output, signal };
  const answered = async <Value>(asked: Promise<Value | Cancelled>): Promise<Value> => {
    const answer = await asked;
    signal.throwIfAborted();
    if (!isCancelled(answer)) return answer;
    prompts.cancel(cancelled, { output });
    throw new InterruptedError("SIGINT");
  };
  return {
    isInteractive: true,
    say: (text) =>
      prompts.log.message(wrapToWidth(terminalText(text, 600), output.columns - guide.length).join("\n"), { output }),
    ask: async (questions) => {
      const answers = new Map<string, string>();
      for (const { message, example, flag, isSecret } of questions) {
        const shared = { ...common, message, validate: requireText };
        const asked = isSecret ? prompts.password(shared) : prompts.text({ ...shared, placeholder: example });
        answers.set(flag, (await answered(asked)).trim());
      }
      return answers;
    },
    choose: async ({ message, choices }) => {
      const options = optionsFrom(choices);
      return valueAt(choices, await answered(prompts.select({ ...common, message, options })));
    },
    chooseMany: async ({ message, choices, defaults }) => {
      const options = optionsFrom(choices);
      const initialValues = choices.flatMap(({ value }, at) => (defaults.includes(value) ? [at] : []));
      const asked = { ...common, message, options, initialValues, required: true, maxItems: shownChoices };
      const isLong = choices.length > shownChoices;
      const ask = isLong ? prompts.autocompleteMultiselect<number> : prompts.multiselect<number>;
      return (await answered(ask(asked))).map((at) => valueAt(choices, at));
    },
  };
}

/** The library's return value after Ctrl-C. */
type Cancelled = Exclude<Awaited<ReturnType<typeof prompts.text>>, string>;

function isCancelled(answer: unknown): answer is Cancelled {
  return prompts.isCancel(answer);
}

/** Uses the index of a choice as its value, because the library accepts only a few types. */
function optionsFrom(choices: readonly Choice<unknown>[]) {
  return choices.map(({ label, hint }, value) => ({
    value,
    label: terminalText(label, longestLabel),
    ...(hint === undefined ? {} : { hint }),
  }));
}

function valueAt<Value>(choices: readonly Choice<Value>[], at: number): Value {
  const choice = choices[at];
  if (choice === undefined) throw new RangeError(`no choice ${at}`);
  return choice.value;
}

function requireText(text: string | undefined): string | undefined {
  return text?.trim() ? undefined : "Enter a value, or press Ctrl-C to stop.";
}
