import type { Rendering, View } from "../../terminal/view.js";

/** Shows the progress, but not while a question is on the terminal. */
export function watchBetweenQuestions(view: View, render: () => Rendering) {
  const watch = () => view.watch(render());
  let unwatch = watch();
  return {
    stop: () => unwatch(),
    pause: async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
      unwatch();
      return ask().finally(() => {
        unwatch = watch();
      });
    },
  };
}
