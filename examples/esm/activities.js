const OPENING_HOURS = { monday: '9 to 17', saturday: '10 to 14', sunday: 'closed' };

/**
 * An agent that you already have, as a worker of the pool: any activity that takes the worker request
 * (`question`, `subtask`, `sees`) and returns `{ text, usage? }`. A workflow works the same way.
 */
export async function askHandbook({ question, subtask }) {
  const asked = `${question} ${subtask}`.toLowerCase();
  const days = Object.keys(OPENING_HOURS).filter((day) => asked.includes(day));
  const lines = (days.length > 0 ? days : Object.keys(OPENING_HOURS)).map((day) => `${day}: ${OPENING_HOURS[day]}`);
  return { text: `The handbook says: ${lines.join('; ')}.` };
}
