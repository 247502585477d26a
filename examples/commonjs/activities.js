/** An agent that you already have, as a worker of the pool: see `../esm/activities.js`. */
exports.askHandbook = async ({ subtask }) => ({
  text: `The handbook on "${subtask}": Saturdays from 10 to 14, on Sundays closed.`,
});
