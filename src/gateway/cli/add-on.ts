import type { AddOn } from '../../cli/add-ons';

/** Loads nothing by itself: every command begins with this file. */
export const GATEWAY: AddOn = { part: { name: 'gateway', command: 'up-gateway' } };
