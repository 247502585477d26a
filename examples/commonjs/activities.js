const OPENING_HOURS = {
  Friday: 'from 9 to 17',
  Saturday: 'from 10 to 14',
  Sunday: 'closed',
};

/**
 * A custom worker: any activity that takes a request (`question`, `subtask`, and outputs of earlier steps in `sees`)
 * and returns `{ text, usage? }`. With `provider: workflow`, a workflow can be a worker as well.
 */
exports.askHandbook = async ({ subtask }) => {
  const days = Object.keys(OPENING_HOURS);
  const asked = days.filter((day) => subtask.includes(day));
  const lines = (asked.length > 0 ? asked : days).map((day) => `${day}: ${OPENING_HOURS[day]}`);
  return { text: lines.join('\n') };
};
