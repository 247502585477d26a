/**
 * The sandbox-safe door: re-export it from your own workflows file.
 *
 * @example
 * export * from 'temporal-conductor/workflows';
 */
export { solve, stateQuery } from './solve';
