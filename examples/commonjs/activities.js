const OPENING_HOURS = {
  Friday: 'from 9 to 17',
  Saturday: 'from 10 to 14',
  Sunday: 'closed',
};

/**
 * A worker of the pool that is yours: any activity that takes the request (`question`, `subtask`, and in `sees` what
 * earlier steps found) and returns `{ text, usage? }`. A workflow does as well, with `provider: workflow`.
 */
exports.askHandbook = async ({ subtask }) => {
  const days = Object.keys(OPENING_HOURS);
  const asked = days.filter((day) => subtask.includes(day));
  const lines = (asked.length > 0 ? asked : days).map((day) => `${day}: ${OPENING_HOURS[day]}`);
  return { text: lines.join('\n') };
};
