import type { AddOn } from '../../cli/add-ons';

/** Must load no modules, since every command loads this file. */
export const GATEWAY: AddOn = { part: { name: 'gateway', command: 'up-gateway' } };
