export { type AuditEntry, COMMAND_LINE, noteAudit, readAudit } from './audit';
export { describeSpent, readSpending, spendingInUsd } from './day-budget';
export { createKey, isUsable, type Key, KeyChecker, listKeys, revokeKey } from './keys';
export { createPass } from './passes';
export type { DaySpending } from './reservations';
