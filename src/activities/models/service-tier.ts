/**
 * The tier that OpenAI's own endpoint is asked to serve every request in, the one whose price the cost limits reckon
 * with. A request that names none is served in the tier of its project's settings, which may be `priority` at twice the
 * price (developers.openai.com/api/docs/guides/priority-processing). Other servers may not know the field.
 */
export const USUAL_TIER = 'default';
